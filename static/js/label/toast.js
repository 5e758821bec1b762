// A short message at the foot of the page, with Undo where something can be taken back.
import { $ } from "./dom.js";

const PLAIN_MS = 6_000;
const UNDO_MS = 15_000;

export function makeSay({ t, onUndo }) {
  let hiding = null;
  const hide = () => {
    $("toast").hidden = true;
  };
  function show(text, { undo = false } = {}) {
    clearTimeout(hiding);
    $("toast-text").textContent = text;
    $("toast-undo").hidden = !undo;
    $("toast").hidden = false;
    hiding = setTimeout(hide, undo ? UNDO_MS : PLAIN_MS);
  }
  $("toast-undo").addEventListener("click", () => {
    hide();
    onUndo();
  });
  const say = (name, options) => show(t(name), options);
  say.text = show;
  return say;
}
