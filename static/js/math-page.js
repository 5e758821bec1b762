// Renders the text of every .math element, also in what htmx brings later. KaTeX loads only when needed.
import { loadKatex } from "./math/load.js";
import { renderText } from "./math/render.js";

async function renderAll(root) {
  const found = [...root.querySelectorAll(".math:not([data-math-done])")];
  if (root.matches?.(".math:not([data-math-done])")) found.push(root);
  if (!found.length) return;
  const katex = await loadKatex();
  for (const element of found) {
    element.dataset.mathDone = "1";
    element.replaceChildren(renderText(element.textContent, { katex, asyNote: element.dataset.asyNote }));
  }
}

renderAll(document);
document.addEventListener("htmx:afterSettle", (event) => renderAll(event.target));
