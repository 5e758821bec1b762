// Is this dollar sign the start of a formula, or money? Pure.
//
// A formula and an amount look alike only up to the next dollar sign, so the text between the two
// decides: "$1.24 and $1.82" has prose and ends in a space right before a digit; "$12x + 3$" has not.

const WINDOW = 4000;
const MAX_PROSE_WORDS = 4;
const COMMAND_WITH_TEXT = /\\(?:text(?:bf|it|rm|normal)?|mbox|hbox|mathrm|operatorname\*?)\s*\{[^{}]*\}/g;
const OTHER_OPENING = /(?<!\\)(?:\\\\)*\\[([]/; // \( or \[ begins a formula of its own
const COMMAND = /\\(?:begin|end)\{[^{}]*\}|\\[a-zA-Z]+/g;
const SHORT_WORDS = new Set(
  "a an and are as at but by can cup did for from had has he her his if in is it its me my no of off on or our per she so the to up was we".split(" "),
);
const FUNCTIONS = new Set(
  "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log ln lg exp min max gcd lcm mod det deg dim ker sup inf lim sqrt".split(" "),
);

/** The index of the `$` that closes the formula opened at `open`; -1 when `open` starts none. */
export function closingDollar(text, open) {
  const close = nextDollar(text, open + 1, true) ?? nextDollar(text, open + 1, false);
  if (close === null) return -1;
  const body = text.slice(open + 1, close);
  if (!body.trim() || OTHER_OPENING.test(body)) return -1;
  return isMoney(body, text.slice(close + 1, close + 3)) || isProse(body) ? -1 : close;
}

// The next unescaped dollar of this paragraph; outside braces first: \text{costs $5$} holds its own.
function nextDollar(text, from, outsideBraces) {
  const limit = Math.min(text.length, from + WINDOW);
  let depth = 0;
  for (let i = from; i < limit; i += 1) {
    const char = text[i];
    if (char === "\\") i += 1;
    else if (char === "{") depth += 1;
    else if (char === "}") depth -= 1;
    else if (char === "\n" && /\n[ \t]*\n/y.test(text.slice(i, i + 40))) return null;
    else if (char === "$" && (!outsideBraces || depth <= 0)) return i;
  }
  return null;
}

/** An amount of money, then other text, then the dollar of something else. */
function isMoney(body, next) {
  if (body.startsWith("<<")) return true; // a calculator note of GSM8K: $<<2*3=6>>6
  if (!/^\d|^\.\d/.test(body)) return false;
  const endsOpen = /(?<!\^)[\s,;:/([{+\-=~–—"“*<>]$/.test(body);
  if (endsOpen && /^(?:[\w\\<({[]|\.\d)/.test(next)) return true; // "$5-$10", "$5, $x$"
  const words = proseWords(body);
  if (!words) return false;
  return endsOpen || words >= MAX_PROSE_WORDS;
}

/** Words between two dollars that belong to no formula: "x$ is good and $y". */
function isProse(body) {
  return /^\s|\s$/.test(body) && proseWords(body) > 0 && !/[=^\\]/.test(body);
}

/** How many bare words of ordinary language stand in it; commands and \text{} do not count. */
function proseWords(body) {
  const bare = body.replace(COMMAND_WITH_TEXT, " ").replace(COMMAND, " ");
  const words = bare.toLowerCase().match(/(?<![a-z\d_^.])[a-z]+(?:'[a-z]+)?(?![a-z(])/g) ?? [];
  return words.filter(isWord).length;
}

function isWord(word) {
  if (FUNCTIONS.has(word)) return false;
  return word.length > 1 ? word.length >= 4 || SHORT_WORDS.has(word) : false;
}
