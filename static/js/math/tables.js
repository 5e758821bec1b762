// LaTeX tables as arrays that KaTeX reads: plain column letters, text cells as \text{}. Pure.

const SPEC = /\\begin\{(array|tabular)\}\s*(?:\[[a-z]\])?\s*(\{(?:[^{}]|\{[^{}]*\})*\})/g;
const TABULAR = /\\begin\{tabular\}(\{[^{}]*\})([^]*?)\\end\{tabular\}/g;
const MULTICOLUMN = /\\multicolumn\s*\{[^{}]*\}\s*\{[^{}]*\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}/g;

export function plainTables(tex) {
  if (!/\\begin\{(array|tabular)\}/.test(tex)) return tex;
  return tex
    .replace(SPEC, (_all, name, spec) => `\\begin{${name}}{${columns(spec)}}`)
    .replace(MULTICOLUMN, "$1")
    .replace(TABULAR, (_all, spec, body) => `\\begin{array}${spec}${textCells(body)}\\end{array}`);
}

/** "{@{}l@{\;}p{3cm}|}" -> "ll|": the spaces between columns are left to KaTeX. */
function columns(spec) {
  return spec
    .slice(1, -1)
    .replace(/[@!><]\s*\{[^{}]*\}/g, "")
    .replace(/[pmb]\s*\{[^{}]*\}/g, "l")
    .replace(/[^lcr|:]/g, "");
}

function textCells(body) {
  const cells = body.split(/((?<!\\)&|\\\\(?:\[[^\]]*\])?|\\hline|\\cline\{[^{}]*\}|\\noalign\{[^{}]*\})/);
  return cells.map((cell, i) => (i % 2 ? cell : textCell(cell))).join("");
}

/** A cell of a tabular is prose with formulas between dollars. */
function textCell(cell) {
  const parts = cell.replace(/\\textbf\{\$([^$]*)\$\}/g, "$$$1$$").split(/(?<!\\)\$/);
  return parts.map((part, i) => (i % 2 || !part.trim() ? part : `\\text{${part.replaceAll("\n", " ")}}`)).join("");
}
