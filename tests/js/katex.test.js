// What the page hands to KaTeX renders; what KaTeX cannot read falls back to the source text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { katex } from "./katex.js";
import { adapt, optionsFor } from "../../static/js/math/adapt.js";
import { isBareFormula, splitAnswer } from "../../static/js/math/answer.js";
import { plainText, styledRuns } from "../../static/js/math/prose.js";

const html = (tex, display = false) => katex.renderToString(adapt(tex, display), optionsFor(display));

const RENDERS = [
  ["15%", false], ["\\$46", false], ["\\boxed{$8.00}", false], ["#1", false], ["1 \\mbox{ cm}", false],
  ["\\begin{align}a&=b\\\\c&=d\\end{align}", true], ["\\begin{align*}a&=b\\end{align*}", false],
  ["\\begin{eqnarray*}a&=&b\\\\c&=&d\\end{eqnarray*}", true], ["\\begin{multline}a\\\\b\\end{multline}", true],
  ["a &= b \\\\ c &= d", true], ["x\\label{one}", true], ["\\overarc{AB}", false], ["\\root 4\\of{5}", false],
  ["\\frac{\\cancelto{2}{8}}{3}", false], ["\\text{proj}_\\vec{a} b", false], ["\\renewcommand{\\arraystretch}{1.5}\\begin{pmatrix}1\\end{pmatrix}", true],
  ["\\begin{array}{@{}c@{\\;}c}1&2\\\\\\cline{1-2}3&4\\end{array}", true],
  ["\\begin{tabular}[t]{|l|c|}\\hline\nName & Share \\\\ \\hline\nAnn & $41\\%$ \\\\ \\end{tabular}", true],
  ["\\begin{tabular}{lr}\\multicolumn{2}{c}{\\textbf{Sales}}\\\\\\hline \\textbf{$2001$} & 3\\end{tabular}", true],
];
for (const [tex, display] of RENDERS) {
  test(`renders ${tex.slice(0, 50)}`, () => assert.match(html(tex, display), /class="katex/));
}

test("a per cent sign does not hide what follows it", () => assert.match(html("15% of 40"), /40/));
test("text of a table stays text", () => assert.match(html("\\begin{tabular}{l}Big dog\\end{tabular}", true), /Big dog/));

test("the text can bring neither links nor pictures nor foreign markup", () => {
  for (const tex of ["\\href{javascript:alert(1)}{x}", "\\includegraphics{http://x.example/a.png}", "\\htmlClass{evil}{x}", "\\url{http://x.example}"]) {
    let out = "";
    try {
      out = html(tex);
    } catch {
      continue; // refused altogether
    }
    assert.doesNotMatch(out, /<a |<img|class="[^"]*evil/);
  }
});
test("a macro that calls itself ends in an error, not in a dead page", () => {
  assert.throws(() => html("\\def\\a{\\a\\a}\\a"));
});
test("one formula's definitions do not reach the next", () => {
  html("\\gdef\\zz{1}\\zz");
  assert.throws(() => html("\\zz"));
});

const ANSWERS = [
  ["So $x=7$.\n\n# Answer\n\n7", { body: "So $x=7$.", answer: "7" }],
  ["# Answer\n\n\\frac{1}{2}", { body: "", answer: "\\frac{1}{2}" }],
  ["5+5=10\n#### 10", { body: "5+5=10", answer: "10" }],
  ["No # Answer here", { body: "No # Answer here", answer: null }],
  ["# Answer\n\n", { body: "# Answer\n\n", answer: null }],
];
for (const [text, expected] of ANSWERS) {
  test(`answer of ${JSON.stringify(text)}`, () => assert.deepEqual(splitAnswer(text), expected));
}

for (const text of ["\\frac{2}{5}", "5x-7", "14", "(3, \\infty)", "\\$34", "x^2", "\\text{Tuesday}", "10\\%", "3:45"]) {
  test(`${text} is a formula without delimiters`, () => assert.ok(isBareFormula(text)));
}
for (const text of ["Tuesday", "$34", "$x$", "", "the 3rd", "a\nb", "x = 2 or x = 3, both fit"]) {
  test(`${JSON.stringify(text)} is no bare formula`, () => assert.ok(!isBareFormula(text)));
}

test("prose: escapes, quotes and styled words", () => {
  assert.equal(plainText("\\$5 is 10\\% of ``fifty''"), "$5 is 10% of “fifty”");
  assert.equal(plainText("one \\\\\ntwo"), "one \ntwo");
  assert.deepEqual(styledRuns("a \\textbf{b} c"), [{ tag: "", text: "a " }, { tag: "strong", text: "b" }, { tag: "", text: " c" }]);
});
