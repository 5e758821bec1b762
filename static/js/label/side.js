// The cards beside the work: calculator and clock.
import { CalcError, evaluate } from "./calc.js";
import { $, el, setText } from "./dom.js";
import { written } from "./numbers.js";
import { minutesSeconds } from "./timer.js";

const HALF_MINUTE_S = 30;

export function startCalculator(t) {
  const output = $("calc-out");
  function show() {
    const text = $("calc-in").value;
    output.className = "";
    if (!text.trim()) return setText(output, "");
    try {
      const { text: value, decimal } = written(evaluate(text));
      const tail = decimal ? `= ${decimal}` : t("exact");
      return output.replaceChildren(el("strong", {}, value), " ", el("span", { class: "muted" }, tail));
    } catch (error) {
      if (!(error instanceof CalcError)) throw error;
      output.className = "muted";
      return setText(output, t(`calc_${error.message}`));
    }
  }
  $("calc").addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  $("calc-in").addEventListener("keydown", (event) => {
    if (event.key === "Escape") $("calc-in").blur(); // back to the keys of the page
  });
}

/** Shows the time on this solution and, after half a minute on one step, the reminder. */
export function startClock({ t, store, timer }) {
  function tick() {
    const { screen, current } = store.state;
    if (screen !== "work") return;
    const { active, onStep } = timer.read();
    setText($("clock"), timer.isIdle() ? t("paused_clock") : t("active", minutesSeconds(active)));
    const seconds = Math.floor(onStep / 1000);
    const late = seconds >= HALF_MINUTE_S;
    setText($("clock-step"), t(late ? "half_minute" : "looking", { n: current + 1, seconds }));
    $("clock-step").classList.toggle("is-late", late);
  }
  setInterval(tick, 1000);
  store.watch((state, before) => {
    if (state.current !== before.current && state.task === before.task) timer.step();
    if (state.current !== before.current || state.task !== before.task) tick();
  });
  for (const name of ["pointerdown", "pointermove", "keydown", "wheel", "touchmove", "scroll"]) {
    addEventListener(name, () => timer.touch(), { passive: true });
  }
  document.addEventListener("visibilitychange", () => timer.show(!document.hidden));
}
