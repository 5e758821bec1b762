// Shows the state on the page. Everything that can be pressed reports to `on(event)`.
import { renderAnswer, renderText } from "../math/render.js";
import { $, el, setText } from "./dom.js";
import { completeness, effective, firstError } from "./rules.js";
import { screenNodes } from "./view-screens.js";
import { buildSteps, markSteps } from "./view-steps.js";

export function makeView({ t, urls, katex, on }) {
  let shownTask = null;
  let shownScreen = "";
  let ready = null; // the next solution, built before it is needed: { id, nodes }
  const built = (task) => ({ id: task.id, task, problem: renderText(task.problem, { katex, asyNote: t("drawing") }), steps: buildSteps(task, { t, katex, on }) });

  function openTask(task) {
    const nodes = ready?.id === task.id ? ready : built(task);
    ready = null;
    $("problem").replaceChildren(nodes.problem);
    $("steps").replaceChildren(...nodes.steps);
    window.scrollTo({ top: 0 });
  }
  function render(state, before) {
    const works = state.screen === "work";
    $("work").hidden = !works;
    $("bar").hidden = !works;
    $("clock-card").hidden = !works;
    $("screen").hidden = works;
    if (works && state.task !== shownTask) openTask(state.task);
    shownTask = state.task;
    if (works) renderWork(state, before);
    else renderScreen(state);
    shownScreen = state.screen;
    renderProgress(state.progress);
    renderSave(state);
  }
  function renderWork(state, before) {
    markSteps($("steps"), state, t);
    if (state.task !== before?.task || state.keyDisputed !== before?.keyDisputed) renderGuess(state);
    const { text, complete } = submitLabel(state);
    const button = $("submit");
    setText(button, text);
    button.disabled = !complete || state.sending;
    button.classList.toggle("button-primary", complete);
    $("undo").disabled = state.sending || !(state.history.length || state.last);
    const moved = state.current !== before?.current || state.task !== before?.task;
    if (moved) focusStep(state.current);
    else if (state.ratings !== before?.ratings) bringIntoView(state.current); // the row may have grown
  }
  function submitLabel(state) {
    const { ratings, task } = state;
    const { complete, waiting } = completeness(ratings, task.mode);
    if (state.sending) return { text: t("sending"), complete: false };
    if (!complete) return { text: t(task.mode === "full" ? "wait_full" : "wait_first_error", { n: waiting + 1 }), complete };
    if (task.mode === "full") return { text: t("submit_full"), complete };
    const stop = firstError(effective(ratings, task.mode));
    return { text: stop < 0 ? t("submit_solution") : t("submit_error", { n: stop + 1 }), complete };
  }
  function renderGuess({ task, keyDisputed }) {
    if (!task.answer) return $("guess").replaceChildren(el("span", { class: "muted" }, t("no_guess")));
    const box = el("span", { class: "guess-box" });
    box.append(renderAnswer(task.answer, { katex }));
    return $("guess").replaceChildren(
      el("span", { class: "muted" }, t("guess")), box,
      el("button", { class: "link-button", type: "button", id: "dispute", "aria-pressed": String(keyDisputed), onclick: () => on({ type: "dispute" }) }, t(keyDisputed ? "disputed" : "dispute")),
    );
  }
  function renderScreen(state) {
    $("screen").replaceChildren(...screenNodes(state, { t, urls, on }));
    if (state.screen !== shownScreen && shownScreen && shownScreen !== "loading") $("screen").focus();
  }
  function renderProgress(progress) {
    if (!progress) return;
    const screening = progress.phase === "screening" && progress.total;
    setText($("progress-text"), screening ? t("screening_progress", progress) : t("today", { n: progress.today }));
    $("progress").hidden = !screening;
    if (screening) Object.assign($("progress"), { max: progress.total, value: progress.done });
  }
  function renderSave({ save, unsent, onWay }) {
    const shown = onWay && save === "saved" ? "saving" : save;
    $("save").dataset.save = unsent ? "unsaved" : shown;
    setText($("save-text"), unsent ? t("unsent", { n: unsent }) : t(shown));
  }

  return {
    render,
    prepare(task) {
      if (ready?.id !== task.id) ready = built(task);
    },
    announce: (text) => { $("announce").textContent = text; },
  };
}

function focusStep(step) {
  const row = $("steps").children[step];
  // Fields keep the focus: someone who types in the calculator is not pulled away.
  if (!row || ["INPUT", "TEXTAREA"].includes(document.activeElement?.tagName) || document.querySelector("dialog[open]")) return;
  row.querySelector(".signs").focus({ preventScroll: true });
  bringIntoView(step);
}

const bringIntoView = (step) => $("steps").children[step]?.scrollIntoView({ block: "nearest", behavior: "smooth" });
