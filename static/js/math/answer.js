// The final answer: found at the end of a step, and told apart from prose. Pure.

const BLOCK = /(^|\n)[ \t]*#[ \t]*Answer[ \t]*:?[ \t]*\n\s*/;
const GSM8K = /(^|\n)[ \t]*####[ \t]*/;

/** { body, answer } of a step: the answer of a "# Answer" block or a "#### 7" line, else null. */
export function splitAnswer(text) {
  for (const mark of [BLOCK, GSM8K]) {
    const match = mark.exec(text);
    if (!match) continue;
    const answer = text.slice(match.index + match[0].length).trim();
    if (answer) return { body: text.slice(0, match.index).trimEnd(), answer };
  }
  return { body: text, answer: null };
}

/** A bare answer such as \frac{2}{5} or 5x-7 is a formula without delimiters; "Tuesday" is not. */
export function isBareFormula(answer) {
  const text = answer.trim();
  if (!text || /(?<!\\)\$|\\\(|\\\[|\n/.test(text)) return false;
  const words = text.replace(/\\(?:text|mbox|mathrm)\s*\{[^{}]*\}|\\[a-zA-Z]+/g, "").match(/[A-Za-z]{3,}/g);
  return !words && /^[\w\s\\${}[\]()+\-*/=<>.,:;^|!'%&~]+$/.test(text);
}
