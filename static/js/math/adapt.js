// Rewrites what LaTeX writers use and KaTeX lacks, for showing only; the stored text stays. Pure.
import { plainTables } from "./tables.js";

export const MACROS = {
  "\\overarc": "\\overset{\\frown}{#1}",
  "\\wideparen": "\\overset{\\frown}{#1}",
  "\\arc": "\\overset{\\frown}{#1}",
  "\\cents": "\\text{¢}",
  "\\cent": "\\text{¢}",
  "\\emph": "\\textit{#1}",
  "\\mathds": "\\mathbb{#1}",
  "\\textsc": "\\text{#1}",
  "\\slash": "/",
  "\\lefteqn": "#1",
  "\\mathop": "\\operatorname*{#1}",
  "\\bm": "\\boldsymbol{#1}",
  "\\newline": "\\\\",
  "\\nolimits": "",
  "\\mbox": "\\text{#1}",
  "\\cancelto": "\\overset{#1}{\\cancel{#2}}",
  "\\arraystretch": "1", // so that a text may change it
};

const RULES = [
  [/(?<!\\)((?:\\\\)*)%/g, "$1\\%"], // a bare per cent sign would hide the rest of the line
  [/\\label\s*\{[^{}]*\}/g, ""],
  [/\\(begin|end)\{multline(\*?)\}/g, "\\$1{gather$2}"],
  [/&\s*(=|<|>|\\leq?|\\geq?|\\approx|\\equiv)\s*&(?=[^]*\\end\{eqnarray)/g, "&$1"],
  [/\\(begin|end)\{eqnarray\*?\}/g, "\\$1{align*}"],
  [/\\(?:cline|cmidrule|noalign|vspace\*?)\s*\{[^{}]*\}/g, ""],
  [/\\hspace\*?\s*\{[^{}]*\\[a-z]+\}/g, ""],
  [/\\(?:toprule|midrule|bottomrule)\b/g, "\\hline"],
  [/\\(?:bigskip|medskip|smallskip|centering|noindent|displaylimits|par)\b/g, ""],
  [/\\root\s*(\{[^{}]*\}|\w+)\s*\\of\s*(\{[^{}]*\}|\w)/g, (_all, n, x) => `\\sqrt[${bare(n)}]{${bare(x)}}`],
  [/([_^])\s*(\\(?:vec|overline|bar|hat|widehat|mathbf|sqrt)\s*\{[^{}]*\})/g, "$1{$2}"],
];
const ONLY_DISPLAY = /\\(begin|end)\{(align|gather|alignat|equation)(\*?)\}/g;
const INLINE_FORM = { align: "aligned", gather: "gathered", alignat: "alignedat", equation: "split" };
const ALONE = /^\\begin\{(align|gather|alignat|equation)\*?\}/;

const bare = (group) => group.replace(/^\{|\}$/g, "");

/** The TeX that KaTeX is given for a formula. */
export function adapt(tex, display) {
  let out = escapeMoney(plainTables(tex.trim()));
  if (!/\\(?:[gex]?def|newcommand)/.test(out)) out = out.replace(/(?<!\\)((?:\\\\)*)#/g, "$1\\#"); // "#" is a macro's argument
  for (const [pattern, replacement] of RULES) out = out.replace(pattern, replacement);
  if (display && ALONE.test(out)) return out;
  out = out.replace(ONLY_DISPLAY, (_all, mark, name) => `\\${mark}{${INLINE_FORM[name]}}`);
  const isLoose = display && !out.includes("\\begin") && /(?<!\\)&|\\\\/.test(out);
  return isLoose ? `\\begin{aligned}${out}\\end{aligned}` : out;
}

// A dollar inside a formula is money, unless it stands in \text{}, where it opens a formula.
function escapeMoney(tex) {
  const texts = /\\(?:text\w*|mbox|hbox)\s*\{[^{}]*\}/g;
  return tex.replace(new RegExp(`${texts.source}|\\\\[^]|\\$`, "g"), (found) => (found === "$" ? "\\$" : found));
}

/** Options for every formula: no links or pictures from the text, no endless macros, no huge boxes. */
export function optionsFor(display) {
  return {
    displayMode: display,
    throwOnError: true,
    strict: "ignore",
    trust: false,
    maxSize: 20,
    maxExpand: 500,
    macros: { ...MACROS },
  };
}
