// The prose between formulas: paragraphs, line breaks, and the few text commands that problems use.

const STYLED = /\\(textbf|textit|emph|text|underline|textrm|mbox)\{([^{}]*)\}/g;
const TAG = { textbf: "strong", textit: "em", emph: "em", underline: "u" };

/** Cuts prose at text commands: [{ tag: "strong" | "em" | "u" | "", text }]. Pure. */
export function styledRuns(text) {
  const runs = [];
  let start = 0;
  for (const match of text.matchAll(STYLED)) {
    runs.push({ tag: "", text: text.slice(start, match.index) });
    runs.push({ tag: TAG[match[1]] ?? "", text: match[2] });
    start = match.index + match[0].length;
  }
  runs.push({ tag: "", text: text.slice(start) });
  return runs.filter((run) => run.text);
}

/** Escapes of LaTeX prose as the signs that they stand for. Pure. */
export function plainText(text) {
  return text
    .replace(/\\\\[ \t]*(?=\n|$)/g, "")
    .replace(/\\([$%&#_{}])/g, "$1")
    .replace(/``/g, "“")
    .replace(/''/g, "”");
}

/** Nodes of a piece of prose: a line break stays one, an empty line makes a gap. */
export function proseNodes(text, document) {
  return styledRuns(text).flatMap((run) => {
    const nodes = lineNodes(plainText(run.text), document);
    if (!run.tag) return nodes;
    const holder = document.createElement(run.tag);
    holder.append(...nodes);
    return [holder];
  });
}

function lineNodes(text, document) {
  const nodes = [];
  text.split(/\n(?:[ \t]*\n)+/).forEach((paragraph, i) => {
    if (i > 0) nodes.push(gap(document));
    paragraph.split("\n").forEach((line, j) => {
      if (j > 0) nodes.push(document.createElement("br"));
      if (line) nodes.push(document.createTextNode(line));
    });
  });
  return nodes;
}

function gap(document) {
  const made = document.createElement("span");
  made.className = "paragraph-gap";
  return made;
}
