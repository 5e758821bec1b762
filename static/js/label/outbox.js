// Sends finished judgements. A submit stays in the journal until the server has answered it.
import { Refused, SignedOut, Unreachable } from "./api.js";
import { title } from "./autosave.js";

/**
 * deliver() gives one of
 *   { status: "sent", answer }      { status: "confirm", message }   (all steps fine, answer graded wrong)
 *   { status: "kept", signedOut }   (not sent: it waits in the journal)
 *   { status: "refused", error }    (the server will not take it; it left the journal)
 */
export function makeOutbox({ api, journal, onCount = () => {} }) {
  const running = new Map(); // assignment -> promise: never two of one submit at a time

  // Waiting: what could not be sent. On its way is no worry yet.
  const count = () => onCount({ count: journal.submits().filter((entry) => !running.has(entry.id)).length, onWay: running.size });

  async function attempt(id, body, options) {
    try {
      const answer = await api.submit(id, body, options);
      journal.dropSubmit(id);
      journal.dropDraft(id);
      return { status: "sent", answer };
    } catch (error) {
      return failed(error, id);
    } finally {
      running.delete(id);
      count();
    }
  }
  function failed(error, id) {
    if (error instanceof Unreachable) return { status: "kept", signedOut: false };
    if (error instanceof SignedOut) return { status: "kept", signedOut: true };
    // Not yours: perhaps another person is signed in here by now. It stays until that is known.
    if (error.code === "not_yours") return { status: "refused", error, id };
    journal.dropSubmit(id);
    if (error instanceof Refused && error.code === "confirm_answer") return { status: "confirm", message: error.message };
    if (error instanceof Refused && error.code === "already_submitted") journal.dropDraft(id);
    return { status: "refused", error };
  }
  function deliver(id, body, options) {
    if (!running.has(id)) {
      running.set(id, attempt(id, body, options));
      count();
    }
    return running.get(id);
  }

  return {
    send(task, body) {
      journal.keepSubmit(task.id, body, title(task));
      return deliver(task.id, body, { tries: 2 });
    },
    /** Try everything that waits, oldest first; stops at the first that cannot be reached. */
    async replay() {
      const results = [];
      for (const entry of journal.submits()) {
        const result = await deliver(entry.id, entry.body, { tries: 1 });
        results.push({ ...result, entry });
        if (result.status === "kept") break;
      }
      count(); // another window may have sent what waited here
      return results;
    },
    count,
    /** It is certain that the server will never take it. */
    drop(id) {
      journal.dropSubmit(id);
      journal.dropDraft(id);
      count();
    },
  };
}
