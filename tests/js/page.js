// The labeling page without a browser: every part that is no DOM, joined as main.js joins them.
import { makeApi } from "../../static/js/label/api.js";
import { makeAutosave } from "../../static/js/label/autosave.js";
import { makeDelivery } from "../../static/js/label/delivery.js";
import { makeIdentity } from "../../static/js/label/identity.js";
import { makeJournal } from "../../static/js/label/journal.js";
import { makeStore } from "../../static/js/label/live-store.js";
import { makeOutbox } from "../../static/js/label/outbox.js";
import { makeSession } from "../../static/js/label/session.js";
import { EMPTY, reduce } from "../../static/js/label/store.js";
import { makeTimer } from "../../static/js/label/timer.js";

const URLS = { next: "/next/", draft: "/a/0/draft/", submit: "/a/0/submit/", reopen: "/l/0/reopen/" };

/** Opens the page on a server and a storage; both may have lived through an earlier page. */
export function openPage(server, storage, answers = {}) {
  let keys = 0;
  const said = [];
  const asked = [];
  const timers = [];
  const later = (run, ms) => timers.push({ run, ms }) - 1;
  const drop = (at) => { if (timers[at]) timers[at].run = null; };
  const say = (name) => said.push(name);
  say.text = (text) => said.push(text);
  const choose = (name) => async () => {
    asked.push(name);
    return typeof answers[name] === "function" ? answers[name]() : answers[name];
  };
  const dialogs = { confirmAnswer: choose("confirm"), stale: choose("stale"), signIn: choose("signIn") };

  const store = makeStore(reduce, EMPTY);
  const journal = makeJournal(storage, "me");
  const api = makeApi({ urls: URLS, token: () => "t", fetch: server.fetch, wait: async () => {} });
  const timer = makeTimer(() => 0);
  const outbox = makeOutbox({ api, journal, onCount: (counts) => store.send({ type: "unsent", ...counts }) });
  const autosave = makeAutosave({
    api, store, journal, timer, setTimer: later, clearTimer: drop,
    on: {
      signedOut: () => dialogs.signIn().then(() => autosave.retry()),
      stale: (newer) => session.settle(newer),
      gone: (error) => session.leaveTask(say.text(error.message)),
    },
  });
  const prepared = [];
  const view = { prepare: (task) => prepared.push(task.id) };
  const session = makeSession({ api, store, journal, autosave, timer, view, dialogs, say, setTimer: later, clearTimer: drop });
  const identity = makeIdentity({ owner: "me", read: async () => answers.signedIn ?? "me", reload: () => said.push("reload") });
  const delivery = makeDelivery({ store, outbox, autosave, timer, session, dialogs, identity, say, newKey: () => `key-${server.calls.length}-${keys++}` });
  store.watch(autosave.changed);

  return {
    store, journal, session, delivery, autosave, said, asked, prepared,
    start: () => delivery.replay().then(session.fetchNext),
    rate: (...values) => values.forEach((value) => store.send({ type: "rate", step: store.state.current, value })),
    /** Runs what waits for a timer (autosave, prefetch, asking again), once. */
    async tick() {
      for (const timer of timers.splice(0)) await timer.run?.();
    },
    problem: () => store.state.task?.problem ?? store.state.screen,
  };
}
