// The labeling page: puts the parts together. Each part is a file beside this one; rules.js and store.js
// hold what the page decides, view*.js what it shows, session.js and delivery.js the course of the work.
import { cookie } from "../cookie.js";
import { loadKatex } from "../math/load.js";
import { makeApi } from "./api.js";
import { makeAutosave } from "./autosave.js";
import { makeDelivery } from "./delivery.js";
import { makeDialogs } from "./dialogs.js";
import { $, makeStrings, readJson } from "./dom.js";
import { makeHearing } from "./hearing.js";
import { makeJournal } from "./journal.js";
import { makeIdentity, ownerOf } from "./identity.js";
import { newKey } from "./key.js";
import { keepAlive } from "./lease.js";
import { makeStore } from "./live-store.js";
import { makeOutbox } from "./outbox.js";
import { makeSession } from "./session.js";
import { startCalculator, startClock } from "./side.js";
import { EMPTY, reduce } from "./store.js";
import { makeTimer } from "./timer.js";
import { makeSay } from "./toast.js";
import { makeView } from "./view.js";

const { owner, urls } = readJson("label-config");
const t = makeStrings(readJson("label-strings"));

async function start() {
  const katex = await loadKatex();
  const store = makeStore(reduce, EMPTY);
  const journal = makeJournal(localStorage, owner);
  const api = makeApi({ urls, token: () => cookie("csrftoken") });
  const timer = makeTimer(() => performance.now());
  const identity = makeIdentity({ owner, read: () => ownerOf(location.pathname), reload: () => location.reload() });
  const dialogs = makeDialogs({ t, urls, afterSignIn: identity.isSame });
  const act = (event) => hearing.act(event);
  const say = makeSay({ t, onUndo: () => act({ type: "undo" }) });
  const view = makeView({ t, urls, katex, on: act });
  const outbox = makeOutbox({ api, journal, onCount: (counts) => store.send({ type: "unsent", ...counts }) });
  const autosave = makeAutosave({
    api, store, journal, timer,
    on: {
      signedOut: () => dialogs.signIn().then(() => autosave.retry()),
      stale: (newer) => session.settle(newer),
      gone: (error) => {
        say.text(error.message);
        if (["already_submitted", "not_yours"].includes(error.code)) session.leaveTask();
      },
    },
  });
  const session = makeSession({ api, store, journal, autosave, timer, view, dialogs, say });
  const delivery = makeDelivery({ store, outbox, autosave, timer, session, dialogs, identity, say, newKey });
  const hearing = makeHearing({ store, session, delivery, dialogs, journal, view, say, t });

  store.watch(view.render);
  store.watch(autosave.changed);
  startClock({ t, store, timer });
  startCalculator(t);
  keepAlive({ store, autosave, timer });
  const retry = () => delivery.replay().then(autosave.retry);
  hearing.listen({ retry });
  addEventListener("online", retry);
  addEventListener("storage", outbox.count);
  addEventListener("pagehide", autosave.leave);

  outbox.count();
  await delivery.replay();
  const reopened = sessionStorage.getItem("stepmark.reopened");
  sessionStorage.removeItem("stepmark.reopened");
  await (reopened ? session.show(JSON.parse(reopened)) : session.fetchNext());
}

start().catch((error) => {
  $("screen").textContent = t("error_title");
  throw error;
});
