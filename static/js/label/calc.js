// A calculator with exact fractions: its own small parser, no eval. Pure.
//
//   expression = term { (+|-) term }      term = factor { (*|/|:|×|÷|·) factor | factor-in-parentheses }
//   factor     = (+|-) factor | power     power = atom [ (^|**) factor ] { % }      atom = number | ( expression )

const MOST_DIGITS = 2000;
const MOST_DEPTH = 60;
const TOKEN = /\s*(?:(\d+(?:[.,]\d+)*\.?|\.\d+)|(\*\*|[-+*/^():%×÷·−]))/y;
const SAME = { "×": "*", "·": "*", "÷": "/", ":": "/", "−": "-", "**": "^" };

export class CalcError extends Error {}

/** The exact value { n, d } (BigInts, d > 0, lowest terms) of an expression. Throws CalcError(code). */
export function evaluate(text) {
  const tokens = tokenize(text);
  let at = 0;
  let depth = 0;
  const peek = () => tokens[at];
  const take = (...signs) => (signs.includes(tokens[at]) ? tokens[at++] : null);

  function expression() {
    let value = term();
    for (let sign = take("+", "-"); sign; sign = take("+", "-")) {
      const right = term();
      value = ratio(value.n * right.d + (sign === "+" ? 1n : -1n) * right.n * value.d, value.d * right.d);
    }
    return value;
  }
  function term() {
    let value = factor();
    for (;;) {
      const sign = peek() === "(" ? "*" : take("*", "/");
      if (!sign) return value;
      const right = factor();
      value = sign === "*" ? ratio(value.n * right.n, value.d * right.d) : divide(value, right);
    }
  }
  function factor() {
    if (++depth > MOST_DEPTH) throw new CalcError("deep");
    const sign = take("+", "-");
    const value = sign ? factor() : power();
    depth -= 1;
    return sign === "-" ? { n: -value.n, d: value.d } : value;
  }
  function power() {
    let value = atom();
    while (take("%")) value = ratio(value.n, value.d * 100n);
    return take("^") ? raise(value, factor()) : value;
  }
  function atom() {
    if (take("(")) {
      const value = expression();
      if (!take(")")) throw new CalcError("parenthesis");
      return value;
    }
    const token = tokens[at++];
    if (token === undefined) throw new CalcError("unfinished");
    if (typeof token === "string") throw new CalcError("unexpected");
    return token;
  }

  const value = expression();
  if (at < tokens.length) throw new CalcError(peek() === ")" ? "parenthesis" : "unexpected");
  return value;
}

function tokenize(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) {
      if (!text.slice(from).trim()) break;
      throw new CalcError("unexpected");
    }
    tokens.push(match[1] ? number(match[1]) : (SAME[match[2]] ?? match[2]));
  }
  if (!tokens.length) throw new CalcError("unfinished");
  return tokens;
}

/** 1,234.5 with commas only between groups of three. */
function number(text) {
  if (/,/.test(text) && !/^\d{1,3}(,\d{3})+(\.\d*)?$/.test(text)) throw new CalcError("comma");
  const [whole, part = "", more] = text.replaceAll(",", "").split(".");
  if (more !== undefined || whole.length + part.length > MOST_DIGITS) throw new CalcError("number");
  return ratio(BigInt(whole + part || "0"), 10n ** BigInt(part.length));
}

function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

function ratio(n, d) {
  const shared = gcd(n, d) || 1n;
  return d < 0n ? { n: -n / shared, d: -d / shared } : { n: n / shared, d: d / shared };
}

function divide(a, b) {
  if (b.n === 0n) throw new CalcError("zero");
  return ratio(a.n * b.d, a.d * b.n);
}

function raise(base, exponent) {
  if (exponent.d !== 1n) throw new CalcError("root");
  const size = exponent.n < 0n ? -exponent.n : exponent.n;
  const digits = BigInt(Math.max(base.n.toString().length, base.d.toString().length));
  if (size * digits > BigInt(MOST_DIGITS)) throw new CalcError("large");
  const value = { n: base.n ** size, d: base.d ** size };
  return exponent.n < 0n ? divide({ n: 1n, d: 1n }, value) : value;
}
