// What a person does, by key, button or touch, and what it sets going.
import { $ } from "./dom.js";
import { actionOf } from "./keys.js";
import { completeness, effective } from "./rules.js";

const REPLAY_EVERY_MS = 20_000;
const NAMES = { 1: "great", 0: "okay", "-1": "bad" };

export function makeHearing({ store, session, delivery, dialogs, journal, view, say, t }) {
  const FLOWS = {
    submit: () => delivery.submit(),
    giveUp: () => leave("give_up"),
    badProblem: () => leave("bad_problem"),
    help: () => dialogs.help(),
    undo: () => undo(),
    again: () => session.fetchNext(),
  };
  function act(event) {
    if (FLOWS[event.type]) return FLOWS[event.type](event);
    if (store.state.screen !== "work") return undefined;
    return store.send("step" in event || event.type !== "rate" ? event : { ...event, step: store.state.current });
  }
  async function leave(finish) {
    const { task, note } = store.state;
    if (!task || dialogs.isOpen()) return;
    const reason = await dialogs.reason(finish, note, (text) => store.send({ type: "note", note: text }));
    if (reason) await delivery.submit({ finish, note: reason });
  }
  function undo() {
    const { history, last, sending } = store.state;
    if (history.length) {
      store.send({ type: "undo" });
      return view.announce(t("undone"));
    }
    if (!last || sending) return view.announce(t("nothing_to_undo"));
    if (Date.parse(last.undo_until) > Date.now()) return session.reopen(last.label);
    store.send({ type: "forget" });
    return say("too_late");
  }

  /** Says aloud what changed, for people who do not see it. */
  function announce(state, before, event) {
    if (event.type === "work") return view.announce(t("new_solution", { n: state.task.steps.length }));
    if (event.type !== "rate" || state.ratings === before.ratings) return undefined;
    const { ratings, task } = state;
    const said = t("rated", { n: event.step + 1, rating: t(NAMES[effective(ratings, task.mode)[event.step]]) });
    return view.announce(completeness(ratings, task.mode).complete ? `${said}. ${t("complete")}` : said);
  }

  function listen({ retry }) {
    addEventListener("keydown", (event) => {
      const action = actionOf(event, { blocked: dialogs.isOpen() });
      if (!action) return;
      event.preventDefault();
      act(action);
    });
    const press = { submit: "submit", undo: "undo", "bad-problem": "badProblem", "give-up": "giveUp", help: "help" };
    for (const [id, type] of Object.entries(press)) $(id).addEventListener("click", () => act({ type }));
    $("save").addEventListener("click", async () => {
      if ((await dialogs.unsent(journal.unsent())) === "retry") await retry();
    });
    document.addEventListener("click", (event) => {
      for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
    });
    setInterval(() => store.state.unsent && retry(), REPLAY_EVERY_MS);
    store.watch(announce);
  }
  return { act, listen };
}
