// Saves the draft: at once in the browser, a moment later on the server, again when the line is back.
import { Refused, SignedOut, Unreachable } from "./api.js";
import { draftOf, sameDraft } from "./rules.js";

const PAUSE_MS = 700; // after the last change
const RETRY_MS = [3_000, 8_000, 20_000];

/** `on`: { signedOut(), stale(newer), gone(error) } - what the page does about refusals. */
export function makeAutosave({ api, store, journal, timer, on, setTimer = setTimeout, clearTimer = clearTimeout }) {
  let waiting = null;
  let running = null;
  let failures = 0;

  const isDirty = () => store.state.task && store.state.edits !== store.state.savedEdits;

  function note() {
    const { task, version } = store.state;
    journal.keepDraft(task.id, version, draftOf(store.state, timer.read()), title(task));
  }
  function schedule(ms = PAUSE_MS) {
    clearTimer(waiting);
    waiting = setTimer(() => flush(), ms);
  }

  /** Send what is unsaved. `always` sends an unchanged draft too: it extends the lease. */
  async function flush({ always = false } = {}) {
    clearTimer(waiting);
    if (running) await running;
    if (!store.state.task || store.state.sending || (!always && !isDirty())) return;
    running = send();
    await running;
    running = null;
    if (isDirty() && !failures) schedule();
  }
  async function send() {
    const { task, version, edits } = store.state;
    store.send({ type: "saving" });
    try {
      const saved = await api.saveDraft(task.id, version, draftOf(store.state, timer.read()), { tries: 1 });
      failures = 0;
      accept(task, saved.version, edits);
    } catch (error) {
      if (store.state.task?.id === task.id) refused(error, task, edits);
    }
  }
  function accept(task, version, edits) {
    if (store.state.task?.id !== task.id) return;
    store.send({ type: "saved", version, edits });
    if (store.state.edits === edits) journal.dropDraft(task.id);
    else note();
  }
  function refused(error, task, edits) {
    store.send({ type: "unsaved" });
    if (error instanceof Unreachable) return schedule(RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]);
    if (error instanceof SignedOut) return on.signedOut();
    if (error instanceof Refused && error.code === "stale_draft") return stale(error.data, task, edits);
    return on.gone(error);
  }
  // The answer to our own earlier save was lost: the "newer" draft is ours.
  function stale({ draft, version }, task, edits) {
    if (!sameDraft(draft, draftOf(store.state, timer.read()))) return on.stale({ draft, version });
    return accept(task, version, edits);
  }

  return {
    flush,
    /** Call after every change of the state; only a change of the judgement itself counts. */
    changed(state, before) {
      if (!isDirty() || (before && state.edits === before.edits)) return;
      note();
      if (!failures) schedule();
    },
    /** The line or the session is back. */
    retry() {
      failures = 0;
      return flush();
    },
    stop: () => clearTimer(waiting),
    /** The page goes away: one last try that outlives it. */
    leave() {
      if (!isDirty() || store.state.sending) return;
      const { task, version } = store.state;
      api.saveDraft(task.id, version, draftOf(store.state, timer.read()), { tries: 1, keepalive: true }).catch(() => {});
    },
  };
}

/** A few words that tell a person which solution it is. */
export const title = (task) => task.problem.replace(/\s+/g, " ").slice(0, 90);
