// Turns text into DOM nodes: prose with line breaks, KaTeX formulas, folded drawings. Never uses HTML strings.
import { adapt, optionsFor } from "./adapt.js";
import { isBareFormula, splitAnswer } from "./answer.js";
import { parse } from "./parse.js";
import { proseNodes } from "./prose.js";

/** A fragment for a problem or step. options: { katex, asyNote, answerLabel, document }. */
export function renderText(text, options = {}) {
  const settings = { document: globalThis.document, ...options };
  const { body, answer } = settings.answerLabel ? splitAnswer(text) : { body: text, answer: null };
  const fragment = settings.document.createDocumentFragment();
  const parts = parse(body);
  parts.forEach((part, i) => fragment.append(...nodesOf(part, parts[i - 1], parts[i + 1], settings)));
  if (answer !== null) fragment.append(answerLine(answer, settings));
  return fragment;
}

/** A final answer: a formula when it reads as one, else as text. */
export function renderAnswer(text, options = {}) {
  const settings = { document: globalThis.document, ...options };
  if (!isBareFormula(text)) return renderText(text, settings);
  return formula({ body: text, raw: text, display: false }, settings);
}

function nodesOf(part, before, after, settings) {
  if (part.kind === "asy") return [drawing(part, settings)];
  if (part.kind === "math") return [formula(part, settings)];
  let text = part.body;
  // The line breaks around a displayed block are the block's own.
  if (before && isBlock(before)) text = text.replace(/^[ \t]*\n/, "");
  if (after && isBlock(after)) text = text.replace(/\n[ \t]*$/, "");
  return proseNodes(text, settings.document);
}

const isBlock = (part) => part.kind === "asy" || part.display;

function formula(part, settings) {
  const holder = element(settings, "span", part.display ? "math-display" : "math-inline");
  try {
    settings.katex.render(adapt(part.body, part.display), holder, optionsFor(part.display));
  } catch {
    // What KaTeX cannot read is shown as it was written: nothing is hidden from the reader.
    holder.replaceChildren();
    holder.className = "math-source mono";
    holder.textContent = part.raw;
  }
  return holder;
}

function drawing(part, settings) {
  const details = element(settings, "details", "math-drawing");
  const summary = element(settings, "summary");
  summary.textContent = settings.asyNote || "Drawing (Asymptote source)";
  const source = element(settings, "pre");
  source.textContent = part.body.trim();
  details.append(summary, source);
  return details;
}

function answerLine(answer, settings) {
  const line = element(settings, "div", "answer-line");
  const label = element(settings, "strong");
  label.textContent = `${settings.answerLabel} `;
  line.append(label, renderAnswer(answer, { ...settings, answerLabel: "" }));
  return line;
}

function element(settings, name, className = "") {
  const made = settings.document.createElement(name);
  if (className) made.className = className;
  return made;
}
