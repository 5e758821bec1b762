// Submitting: from the press of the button to the next solution, and what waits from before. Knows no DOM.
import { completeness, submission } from "./rules.js";

const OVER = new Set(["already_submitted", "not_yours"]);

export function makeDelivery({ store, outbox, autosave, timer, session, dialogs, identity, say, newKey }) {
  /** Send what is on screen. `given`: { finish, note } for a give up or a bad problem. */
  async function submit(given = {}) {
    const { state } = store;
    if (!state.task || state.sending) return;
    if (!given.finish && !completeness(state.ratings, state.task.mode).complete) return;
    autosave.stop();
    const body = submission(state, { key: newKey(), times: timer.read(), ...given });
    store.send({ type: "forget" });
    // Only a solution found right may come back with a question; all else is left behind at once.
    if (body.finish_reason !== "solution" && session.hasNext()) await deliverBehind(state.task, body);
    else await deliver(state.task, body);
  }
  /** The next solution is on screen while this one is still being sent. */
  async function deliverBehind(task, body) {
    const sending = outbox.send(task, body);
    await session.goOn();
    const result = await sending;
    if (result.status === "sent") {
      remember(result.answer);
      say("sent", { undo: Boolean(result.answer.undo_until) });
      return session.caughtUp(result.answer.next);
    }
    if (result.status === "refused") return refused(result, task.id);
    say("sent_later");
    return result.signedOut ? dialogs.signIn().then(replay) : undefined;
  }
  async function deliver(task, body) {
    store.send({ type: "sending", on: true });
    const result = await outbox.send(task, body);
    if (result.status === "kept" && result.signedOut) {
      await dialogs.signIn();
      return deliver(task, body);
    }
    store.send({ type: "sending", on: false });
    return AFTER[result.status](result, task, body);
  }
  const AFTER = {
    async sent({ answer }) {
      remember(answer);
      say("sent", { undo: Boolean(answer.undo_until) });
      await session.show(answer.next);
    },
    async confirm(_result, task, body) {
      const chosen = await dialogs.confirmAnswer(task.answer);
      if (chosen) await deliver(task, confirmed(body, chosen));
      else autosave.changed();
    },
    async kept() {
      say("sent_later");
      await session.goOn();
    },
    async refused(result, task) {
      await refused(result, task.id);
      if (OVER.has(result.error.code)) await session.leaveTask();
      else autosave.changed();
    },
  };
  async function refused({ error }, id) {
    say.text(error.message);
    if (error.code === "not_yours" && (await identity.isSame())) outbox.drop(id);
  }
  const confirmed = (body, chosen) => ({ ...body, answer_confirmed: true, key_disputed: body.key_disputed || chosen === "wrong" });

  function remember({ label, assignment, undo_until }) {
    store.send({ type: "submitted", last: undo_until ? { label, assignment, undo_until } : null });
  }

  /** Send what waited in the browser: at the start, and when the connection or the session is back. */
  async function replay() {
    for (const result of await outbox.replay()) {
      if (result.status === "kept" && result.signedOut) {
        await dialogs.signIn();
        return replay();
      }
      await LATE[result.status](result);
    }
    if (store.state.screen === "offline") await session.fetchNext();
    return undefined;
  }
  const LATE = {
    sent: ({ answer }) => remember(answer),
    refused: (result) => refused(result, result.entry.id),
    kept: () => {},
    async confirm({ entry: { id, body, title } }) {
      const chosen = await dialogs.confirmAnswer(null, title);
      if (chosen) await outbox.send({ id, problem: title }, confirmed(body, chosen));
    },
  };

  return { submit, replay };
}
