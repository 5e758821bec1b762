// The course of the work: get a solution, open it, keep the next one ready, take one back. Knows no DOM.
import { Refused, SignedOut } from "./api.js";
import { reconcile } from "./journal.js";
import { draftOf, sameDraft } from "./rules.js";

const PREFETCH_AFTER_MS = 800;
const ASK_AGAIN_MS = { hold: 8_000, wait: 30_000, done: 60_000, paused: 60_000, offline: 15_000 };

/** `say(name, { undo })` shows a short message, `say.text(text)` a ready one. */
export function makeSession({ api, store, journal, autosave, timer, view, dialogs, say, setTimer = setTimeout, clearTimer = clearTimeout }) {
  let ahead = null; // the next solution, already here
  let asking = null;

  const held = () => {
    const { task } = store.state;
    return [...new Set([...(task ? [task.id] : []), ...journal.submits().map((entry) => entry.id)])].slice(0, 16);
  };

  async function fetchNext() {
    clearTimer(asking);
    try {
      await show(await api.next(held()));
    } catch (error) {
      await failed(error);
    }
  }
  async function failed(error) {
    if (error instanceof SignedOut) {
      await dialogs.signIn();
      return fetchNext();
    }
    if (error instanceof Refused) return screen({ state: "error", message: error.message });
    return goOn();
  }
  function screen(answer) {
    clearTimer(asking);
    store.send({ type: "state", ...answer });
    const ms = ASK_AGAIN_MS[answer.state];
    if (ms) asking = setTimer(fetchNext, ms);
  }
  /** Without the server: the solution that is already here, or the screen that says what is missing. */
  const goOn = () => (ahead ? openTask(ahead, store.state.progress) : screen({ state: "offline" }));
  /** What /next/ answered. */
  const show = (answer) => (answer.state === "work" ? openTask(answer.assignment, answer.progress) : screen(answer));

  async function openTask(assignment, progress) {
    clearTimer(asking);
    autosave.stop();
    if (ahead?.id === assignment.id) ahead = null;
    const { draft, isNews } = await chooseDraft(assignment);
    timer.restart(draft);
    store.send({ type: "work", assignment, progress, draft });
    if (isNews) await autosave.flush({ always: true });
    setTimer(prefetch, PREFETCH_AFTER_MS);
  }
  /** The draft to open with; `isNews`: the server does not have it yet. */
  async function chooseDraft(assignment) {
    const choice = reconcile(assignment, journal.draftOf(assignment.id), sameDraft);
    if (choice.from === "browser") return { draft: choice.use, isNews: true };
    const mine = choice.from === "choice" && (await dialogs.stale(choice.local, choice.server)) !== "theirs";
    if (mine) return { draft: choice.local, isNews: true };
    journal.dropDraft(assignment.id);
    return { draft: assignment.draft ?? {}, isNews: false };
  }
  async function prefetch() {
    const { task } = store.state;
    if (!task || ahead) return;
    const answer = await api.next(held()).catch(() => null);
    if (answer?.state !== "work" || answer.assignment.id === store.state.task?.id) return;
    ahead = answer.assignment;
    view.prepare(ahead);
  }

  /** A submit was answered after the next solution was opened: take what is new in the answer. */
  function caughtUp(answer) {
    if (answer.state !== "work") return show(answer);
    store.send({ type: "progress", progress: answer.progress });
    return prefetch();
  }
  /** The solution on screen is no longer ours: on to the next one. */
  async function leaveTask() {
    const { task } = store.state;
    if (task) journal.dropDraft(task.id);
    autosave.stop();
    store.send({ type: "state", state: "loading" });
    await fetchNext();
  }
  /** Another window saved a different draft of the solution on screen. */
  async function settle({ draft, version }) {
    const mine = draftOf(store.state, timer.read());
    store.send({ type: "version", version });
    if ((await dialogs.stale(mine, draft)) !== "theirs") return autosave.flush({ always: true });
    const { task, progress } = store.state;
    journal.dropDraft(task.id);
    return openTask({ ...task, draft, draft_version: version }, progress);
  }
  async function reopen(label) {
    const { task } = store.state;
    try {
      await autosave.flush();
      const answer = await api.reopen(label);
      if (task) ahead = { ...task, draft: draftOf(store.state, timer.read()), draft_version: store.state.version };
      store.send({ type: "forget" });
      await show(answer);
      say("reopened");
    } catch (error) {
      if (error instanceof SignedOut) await dialogs.signIn();
      else if (error instanceof Refused) say.text(error.message);
      else say("offline_title");
    }
  }
  return { fetchNext, show, goOn, caughtUp, leaveTask, settle, reopen, hasNext: () => Boolean(ahead) };
}
