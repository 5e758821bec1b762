// Cuts text into prose, mathematics and Asymptote drawings. Pure: no DOM, no KaTeX.
//
// parse(text) -> [{ kind: "text" | "math" | "asy", raw, body, display }]
// The raw parts joined give the text back exactly; `body` is what stands between the delimiters.
import { closingDollar } from "./dollars.js";

const WINDOW = 12000; // no formula is longer; keeps hostile text from costing quadratic time
const ENVIRONMENT =
  /\\begin\{(align|alignat|aligned|alignedat|array|[bpvBV]?matrix|cases|eqnarray|equation|gather|gathered|multline|smallmatrix|split|tabular)(\*?)\}/y;

export function parse(text) {
  const parts = [];
  let start = 0; // of the prose not yet given out
  let at = 0;
  while (at < text.length) {
    const found = opening(text, at);
    if (!found) {
      at += text[at] === "\\" ? 2 : 1; // a backslash takes the next character with it: \$ is no delimiter
      continue;
    }
    addText(parts, text, start, at);
    parts.push({ display: false, ...found.part, raw: text.slice(at, found.end) });
    start = at = found.end;
  }
  addText(parts, text, start, text.length);
  return parts;
}

function addText(parts, text, from, to) {
  const raw = text.slice(from, to);
  if (raw) parts.push({ kind: "text", raw, body: raw, display: false });
}

function opening(text, at) {
  if (text[at] === "$") return doubleDollar(text, at) ?? singleDollar(text, at);
  if (text[at] === "[" && text.startsWith("[asy]", at)) return drawing(text, at);
  if (text[at] !== "\\") return null;
  if (text[at + 1] === "(") return bracketed(text, at, ")", false);
  if (text[at + 1] === "[") return bracketed(text, at, "]", true);
  return environment(text, at);
}

function math(text, from, to, end, display) {
  const body = text.slice(from, to);
  return body.trim() ? { part: { kind: "math", body, display }, end } : null;
}

function singleDollar(text, at) {
  const close = closingDollar(text, at);
  return close < 0 ? null : math(text, at + 1, close, close + 1, false);
}

function doubleDollar(text, at) {
  if (text[at + 1] !== "$") return null;
  const limit = Math.min(text.length, at + WINDOW);
  for (let i = at + 2; i < limit; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "$") {
      return text[i + 1] === "$" ? math(text, at + 2, i, i + 2, true) : null;
    }
  }
  return null;
}

// \( .. \) and \[ .. \]. A second opening before the close means that the first was never closed.
function bracketed(text, at, close, display) {
  const limit = Math.min(text.length, at + WINDOW);
  for (let i = at + 2; i < limit; i += 1) {
    if (!display && text.startsWith("\n\n", i)) return null;
    if (text[i] !== "\\") continue;
    if (text[i + 1] === close) return math(text, at + 2, i, i + 2, display);
    if (text[i + 1] === text[at + 1]) return null;
    i += 1;
  }
  return null;
}

// A bare \begin{align} .. \end{align}; the same name may stand inside itself. The body keeps both marks.
function environment(text, at) {
  ENVIRONMENT.lastIndex = at;
  const match = ENVIRONMENT.exec(text);
  if (!match) return null;
  const name = `{${match[1]}${match[2]}}`;
  const limit = at + WINDOW;
  let depth = 1;
  let i = ENVIRONMENT.lastIndex;
  while (depth > 0) {
    const end = text.indexOf(`\\end${name}`, i);
    if (end < 0 || end > limit) return null;
    const begin = text.indexOf(`\\begin${name}`, i);
    const nested = begin >= 0 && begin < end;
    depth += nested ? 1 : -1;
    i = nested ? begin + 7 : end + 5 + name.length - 1;
  }
  return math(text, at, i, i, true);
}

function drawing(text, at) {
  const close = text.indexOf("[/asy]", at);
  if (close < 0) return null;
  const end = close + "[/asy]".length;
  return { part: { kind: "asy", body: text.slice(at + 5, close) }, end };
}
