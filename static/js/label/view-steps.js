// The list of steps: built once per solution (mathematics included), then only marked anew.
import { renderText } from "../math/render.js";
import { el, signIcon } from "./dom.js";
import { effective, reach } from "./rules.js";

const SIGNS = [[1, "great", "A"], [0, "okay", "S"], [-1, "bad", "D"]];

/** Builds the rows of a task. `on(event)` gets rate, goto, reason and raw events. */
export function buildSteps(task, { t, katex, on }) {
  return task.steps.map((text, step) => {
    const body = el("div", { class: "step-text", id: `step-text-${step}` });
    body.append(renderText(text, { katex, answerLabel: t("answer"), asyNote: t("drawing") }));
    const source = el("button", { class: "source-button", type: "button", "aria-pressed": "false", "aria-label": t("show_source"), title: t("show_source"), onclick: () => on({ type: "raw", step }) }, "{ }");
    return el(
      "li",
      { class: "step", "data-step": step, onclick: (event) => pick(event, step, on) },
      signs(step, task, t, on),
      el("div", { class: "step-side" }, number(step, task, t), source),
      el("div", { class: "step-body" }, body, el("pre", { class: "step-source", hidden: true }, text),
        reasons(step, task, t, on)),
    );
  });
}

// "4" for the eye, "Step 4 of 6" for the ear.
const number = (step, task, t) =>
  el("span", { class: "step-n tabular", id: `step-n-${step}` }, el("span", { "aria-hidden": "true" }, String(step + 1)),
    el("span", { class: "visually-hidden" }, t("step", { n: step + 1, total: task.steps.length })));

function signs(step, task, t, on) {
  const buttons = SIGNS.map(([rating, name, key]) =>
    el("button", {
      class: `sign sign-${name}`, type: "button", role: "radio", "aria-checked": "false", "aria-label": t(name),
      "data-rating": rating, tabindex: "-1", onclick: () => on({ type: "rate", step, value: rating }),
    }, signIcon(rating), el("kbd", { "aria-hidden": "true" }, key)));
  const group = el("div", {
    class: "signs", role: "radiogroup", tabindex: "-1", "aria-labelledby": `step-n-${step} step-text-${step}`,
  }, ...buttons);
  group.addEventListener("keydown", (event) => sideways(event, buttons));
  return group;
}

// Left and right walk through the three signs of a step, as in any group of radio buttons.
function sideways(event, buttons) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const at = buttons.indexOf(document.activeElement);
  buttons[at < 0 ? 0 : (at + by + buttons.length) % buttons.length].focus();
}

function reasons(step, task, t, on) {
  const chips = task.reasons.map((reason) =>
    el("button", { class: "chip", type: "button", "aria-pressed": "false", "data-reason": reason, onclick: () => on({ type: "reason", step, reason }) }, reason));
  return el("div", { class: "reasons", role: "group", "aria-label": t("reasons"), hidden: true }, el("span", { class: "muted small", "aria-hidden": "true" }, t("reasons")), ...chips);
}

// A click anywhere in a row makes it the live one; buttons speak for themselves.
function pick(event, step, on) {
  if (!event.target.closest("button, summary, a") && !String(getSelection() ?? "")) on({ type: "goto", step });
}

/** Marks the rows as the state says. */
export function markSteps(list, state, t) {
  const { task, ratings, current } = state;
  const counted = effective(ratings, task.mode);
  const last = reach(ratings, task.mode);
  [...list.children].forEach((row, step) => {
    markRow(row, { rating: counted[step], isCurrent: step === current, isLater: step > last, reason: state.reasons[step], isRaw: Boolean(state.raw[step]) }, t);
  });
}

function markRow(row, { rating, isCurrent, isLater, reason, isRaw }, t) {
  const isJudged = rating !== null && rating !== undefined;
  row.classList.toggle("is-current", isCurrent);
  row.classList.toggle("is-judged", isJudged);
  row.classList.toggle("is-later", isLater);
  if (isCurrent) row.setAttribute("aria-current", "step");
  else row.removeAttribute("aria-current");
  markSigns(row.querySelector(".signs"), rating, isCurrent, isLater);
  const chips = row.querySelector(".reasons");
  chips.hidden = !(rating === -1 || (rating === 0 && isCurrent)) || chips.children.length < 2;
  for (const chip of chips.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", String(chip.dataset.reason === reason));
  row.querySelector(".step-source").hidden = !isRaw;
  row.querySelector(".step-text").hidden = isRaw;
  const button = row.querySelector(".source-button");
  button.hidden = !isCurrent && !isRaw;
  button.setAttribute("aria-pressed", String(isRaw));
}

function markSigns(group, rating, isCurrent, isLater) {
  group.toggleAttribute("inert", isLater);
  const buttons = [...group.querySelectorAll(".sign")];
  buttons.forEach((button, i) => {
    const checked = Number(button.dataset.rating) === rating;
    button.setAttribute("aria-checked", String(checked));
    // One stop of the Tab key per step: the chosen sign, or the first.
    const stop = checked || (i === 0 && !buttons.some((other) => Number(other.dataset.rating) === rating));
    button.tabIndex = stop && !isLater ? 0 : -1;
  });
}
