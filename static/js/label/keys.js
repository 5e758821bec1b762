// Which key does what. Pure: an event-like object in, an action out. No single key destroys anything.

const KEYS = {
  a: { type: "rate", value: 1 }, 1: { type: "rate", value: 1 },
  s: { type: "rate", value: 0 }, 2: { type: "rate", value: 0 },
  d: { type: "rate", value: -1 }, 3: { type: "rate", value: -1 },
  arrowdown: { type: "move", by: 1 }, j: { type: "move", by: 1 },
  arrowup: { type: "move", by: -1 }, k: { type: "move", by: -1 },
  u: { type: "unrated" },
  z: { type: "undo" },
  r: { type: "raw" },
  w: { type: "dispute" },
  g: { type: "giveUp" },
  p: { type: "badProblem" },
  n: { type: "submit" },
  enter: { type: "submit" },
  "?": { type: "help" },
};

// The help overlay: rows of keys and the name of the string that explains them.
export const HELP = [
  [["A", "1"], "help_great"],
  [["S", "2"], "help_okay"],
  [["D", "3"], "help_bad"],
  [["↓", "J"], "help_down"],
  [["↑", "K"], "help_up"],
  [["U"], "help_unrated"],
  [["Z"], "help_undo"],
  [["R"], "help_raw"],
  [["W"], "help_dispute"],
  [["G"], "help_give_up"],
  [["P"], "help_bad_problem"],
  [["N", "Enter"], "help_submit"],
  [["?"], "help_help"],
];

const FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT"]);
const PRESSED_BY_ENTER = new Set(["BUTTON", "A", "SUMMARY"]);

/** The action of a key press, or null. `blocked`: a dialog is open. */
export function actionOf(event, { blocked = false } = {}) {
  if (blocked || event.isComposing || event.defaultPrevented) return null;
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const target = event.target ?? {};
  if (FIELDS.has(target.tagName) || target.isContentEditable) return null;
  const key = String(event.key ?? "").toLowerCase();
  if (key === "enter" && PRESSED_BY_ENTER.has(target.tagName)) return null; // Enter presses that button
  const action = Object.hasOwn(KEYS, key) ? KEYS[key] : null;
  if (!action) return null;
  // A key held down moves on through the steps, but never rates or submits again and again.
  return event.repeat && action.type !== "move" ? null : action;
}
