// What is mathematics, what is money, what is prose. The text itself is never altered.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../../static/js/math/parse.js";
import { random } from "./random.js";

/** "text[formula]text" with {{display}} and <asy>: a short picture of the parts. */
const picture = (text) =>
  parse(text).map((part) => {
    if (part.kind === "math") return part.display ? `{{${part.body.trim()}}}` : `[${part.body.trim()}]`;
    return part.kind === "asy" ? "<asy>" : part.body;
  }).join("");

const SAME = (text) => [text, text];
const CASES = [
  // Delimiters.
  ["Let $x$ be 3.", "Let [x] be 3."],
  ["$$x^2$$", "{{x^2}}"],
  ["so \\(a+b\\) is", "so [a+b] is"],
  ["\\[a\n=b\\]", "{{a\n=b}}"],
  ["$x$$y$", "[x][y]"],
  ["$ x + 1 $", "[x + 1]"],
  ["$$ 1 $$ and $2$", "{{1}} and [2]"],
  ["a\\\\(b) and \\\\[2pt]", "a\\\\(b) and \\\\[2pt]"],
  ["$\\begin{pmatrix} 1 \\\\[2pt] 2 \\end{pmatrix}$", "[\\begin{pmatrix} 1 \\\\[2pt] 2 \\end{pmatrix}]"],
  ["$f(x) = \\text{5 if $x>0$}$.", "[f(x) = \\text{5 if $x>0$}]."],
  ["\\[\\text{cost \\(c\\)}\\]", "{{\\text{cost \\(c\\)}}}"],
  ["x\\begin{align} a&=b \\end{align}y", "x{{\\begin{align} a&=b \\end{align}}}y"],
  ["\\begin{array}{c}\\begin{array}{c}1\\end{array}\\end{array}", "{{\\begin{array}{c}\\begin{array}{c}1\\end{array}\\end{array}}}"],
  ["\\begin{align*}x\\end{align*}", "{{\\begin{align*}x\\end{align*}}}"],
  // Never closed: it stays text.
  SAME("a $ b"), SAME("$"), SAME("$$"), SAME("$$$"), SAME("$$$$"), SAME("$ $"), SAME("\\(x"), SAME("\\[x"), SAME("x\\)"),
  SAME("\\begin{align}x"), SAME("\\begin{itemize}x\\end{itemize}"), SAME("$x\n\ny$"), SAME("\\"), SAME("[asy] draw"),
  ["\\( x and \\(y\\)", "\\( x and [y]"],
  ["$$x = 5$ is", "$[x = 5] is"],
  // Money.
  SAME("$1.24 and $1.82"), SAME("\\$1.24"), SAME("a \\$5 note and a \\$10 note"),
  ["costs $5 and $x$ is", "costs $5 and [x] is"],
  ["$\\$46$", "[\\$46]"],
  ["A shirt at $40 is sold at $15\\%$ off.", "A shirt at $40 is sold at [15\\%] off."],
  SAME("between $5-$10"), SAME("$5/$10"), SAME("$5, $6, and $7"), SAME("$5,000 a year, $6,000 next"), SAME("$.50 and $.75"),
  ["$5, $x$", "$5, [x]"],
  SAME("He has $5 (that is, $5.00)."), SAME("She pays $3 x 5 = $15."), SAME("$10 x 1.2 = $12"),
  SAME("It made $<<2*3=6>>6 and $<<6*2=12>>12."),
  ["It is 5$ and $x$.", "It is 5$ and [x]."],
  ["Pay $20 for $n$ pens at $p$ each.", "Pay $20 for [n] pens at [p] each."],
  ["total: $5+$10=$15", "total: $5+$10=$15"],
  // Numbers that are mathematics.
  ["$5$ and $6$", "[5] and [6]"],
  ["$12x + 3$", "[12x + 3]"],
  ["the $2$nd and $n$th", "the [2]nd and [n]th"],
  ["$3 \\text{ and } 4$", "[3 \\text{ and } 4]"],
  ["$10 \\sin x$", "[10 \\sin x]"],
  ["$12 inches$", "[12 inches]"],
  ["$1^+$, $9=4p'$.", "[1^+], [9=4p']."],
  ["$4x-3 < 2 - x $.", "[4x-3 < 2 - x]."],
  ["$3 \\begin{pmatrix} 2 \\\\ -8 \\end{pmatrix}$", "[3 \\begin{pmatrix} 2 \\\\ -8 \\end{pmatrix}]"],
  ["$0.abcd,$ where $a, b,$ and $c$", "[0.abcd,] where [a, b,] and [c]"],
  ["speed $x = 2 or x = 3$", "speed [x = 2 or x = 3]"],
  ["x$ is good and $y$", "x$ is good and [y]"],
  // Drawings.
  ["See [asy] draw((0,0)--(1,1)); label(\"$A$\"); [/asy] here $x$", "See <asy> here [x]"],
];

for (const [text, expected] of CASES) {
  test(`parts of ${JSON.stringify(text)}`, () => assert.equal(picture(text), expected));
}

test("the raw parts joined are the text, for any text", () => {
  const pieces = ["$", "$$", "\\(", "\\)", "\\[", "\\]", "\\$", "\\", "{", "}", "[asy]", "[/asy]", "\\begin{align}", "\\end{align}", "\n", "\n\n", " ", "5", "1,000", "x", " and ", "\\text{", "é", "𝔸", "<<"];
  const pick = random(7);
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: 1 + pick(14) }, () => pieces[pick(pieces.length)]).join("");
    const parts = parse(text);
    assert.equal(parts.map((part) => part.raw).join(""), text);
    for (const part of parts) assert.ok(part.raw && part.raw.includes(part.body));
  }
});

test("hostile text of 60 kB takes well under a second", () => {
  for (const piece of ["$", "\\(", "$1 ", "\\[", "\\begin{align}", "[asy]", "{$", "$a\n"]) {
    const started = performance.now();
    parse(piece.repeat(60_000 / piece.length));
    assert.ok(performance.now() - started < 5_000, `${JSON.stringify(piece)} took ${performance.now() - started} ms`);
  }
});
