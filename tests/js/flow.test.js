// The course of work against a server that fails in every way a real one does. Nothing is ever lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "./page.js";
import { makeServer, makeStorage } from "./server.js";

async function begun(names, answers) {
  const server = makeServer(names);
  const storage = makeStorage();
  const page = openPage(server, storage, answers);
  await page.start();
  return { server, storage, page };
}
const sent = (server) => server.labels.map((label) => [label.assignment, label.body.finish_reason, label.body.ratings]);

test("the next solution is fetched while the first is judged, and follows at once", async () => {
  const { server, page } = await begun(["A", "B"]);
  await page.tick();
  assert.deepEqual(page.prepared, [2]);
  page.rate(1, -1);
  await page.delivery.submit();
  assert.equal(page.problem(), "B");
  page.rate(1, 1, 0);
  await page.delivery.submit();
  assert.equal(page.problem(), "done");
  assert.deepEqual(sent(server), [[1, "found_error", [1, -1]], [2, "solution", [1, 1, 0]]]);
});
test("a found error does not wait for the server: the next solution is on screen while it is sent", async () => {
  const { server, page } = await begun(["A", "B", "C"]);
  await page.tick();
  page.rate(-1);
  const { promise, resolve } = Promise.withResolvers();
  server.slow = promise;
  const sending = page.delivery.submit();
  await new Promise((done) => setImmediate(done));
  assert.deepEqual([page.problem(), server.labels.length], ["B", 0]);
  assert.deepEqual([page.store.state.unsent, page.store.state.onWay], [0, 1], "on its way is not unsent");
  page.rate(1);
  resolve();
  await sending;
  assert.deepEqual([page.problem(), page.store.state.ratings[0], page.store.state.last.assignment], ["B", 1, 1]);
  assert.deepEqual([page.prepared, page.store.state.progress.today], [[2, 3], 1]);
});
test("when the sent answer pauses a person, the screen says so even if the next one is open", async () => {
  const { server, page } = await begun(["A", "B"]);
  await page.tick();
  server.paused = true;
  page.rate(-1);
  await page.delivery.submit();
  assert.equal(page.problem(), "paused");
});
test("while a submit is on its way, Undo does not take back an older one", async () => {
  const { page } = await begun(["A", "B", "C"]);
  await page.tick();
  page.rate(-1);
  await page.delivery.submit();
  page.rate(-1);
  const sending = page.delivery.submit();
  assert.equal(page.store.state.last, null);
  await sending;
  assert.equal(page.store.state.last.assignment, 2);
});
test("an incomplete judgement is not sent, a give up with its note is", async () => {
  const { server, page } = await begun(["A"]);
  page.rate(1);
  await page.delivery.submit();
  assert.deepEqual(server.labels, []);
  await page.delivery.submit({ finish: "give_up", note: "no idea" });
  assert.deepEqual([server.labels[0].body.note, server.labels[0].body.ratings], ["no idea", [1]]);
});
test("two presses of submit make one label", async () => {
  const { server, page } = await begun(["A"]);
  page.rate(-1);
  await Promise.all([page.delivery.submit(), page.delivery.submit()]);
  assert.equal(server.labels.length, 1);
  assert.equal(server.calls.filter((call) => call.includes("submit")).length, 1);
});
test("when the answer to a submit is lost the same key is sent again, and one label stands", async () => {
  const { server, page } = await begun(["A", "B"]);
  page.rate(-1);
  server.lose = 1;
  await page.delivery.submit();
  assert.equal(server.labels.length, 1);
  assert.equal(page.problem(), "B");
  assert.deepEqual(page.journal.unsent(), []);
});
test("drafts are saved with versions, and a reload goes on where it was", async () => {
  const { server, storage, page } = await begun(["A"]);
  page.rate(1, 0);
  assert.equal(page.store.state.save, "unsaved");
  await page.tick();
  assert.equal(page.store.state.save, "saved");
  assert.deepEqual([server.items[0].version, server.items[0].draft.ratings], [1, [1, 0, null]]);
  assert.deepEqual(page.journal.drafts(), [], "the browser forgets what the server has");
  const again = openPage(server, storage);
  await again.start();
  assert.deepEqual([again.store.state.ratings, again.store.state.current], [[1, 0, null], 2]);
});
test("without a line, work is kept in the browser, through a reload, and saved when the line is back", async () => {
  const { server, storage, page } = await begun(["A"]);
  server.down = true;
  page.rate(1, 1);
  await page.tick();
  assert.equal(page.store.state.save, "unsaved");
  server.down = false;
  const again = openPage(server, storage);
  await again.start();
  assert.deepEqual(again.store.state.ratings, [1, 1, null]);
  assert.deepEqual(server.items[0].draft.ratings, [1, 1, null], "it is sent at once");
});
test("a submit without a line waits in the browser; the prefetched solution goes on; then all is sent", async () => {
  const { server, page } = await begun(["A", "B", "C"]);
  await page.tick();
  page.rate(-1);
  server.down = true;
  await page.delivery.submit();
  assert.deepEqual([page.problem(), page.store.state.unsent, server.labels.length], ["B", 1, 0]);
  page.rate(1, -1);
  await page.delivery.submit();
  assert.deepEqual([page.problem(), page.store.state.unsent], ["offline", 2]);
  assert.equal(page.journal.unsent()[0].title, "A", "the list of what is unsent names it");
  server.down = false;
  await page.delivery.replay();
  assert.deepEqual(sent(server), [[1, "found_error", [-1]], [2, "found_error", [1, -1]]]);
  assert.deepEqual([page.problem(), page.store.state.unsent], ["C", 0]);
});
test("a page closed with unsent submits sends them when it is opened again", async () => {
  const { server, storage, page } = await begun(["A", "B"]);
  page.rate(-1);
  server.down = true;
  await page.delivery.submit();
  server.down = false;
  const again = openPage(server, storage);
  await again.start();
  assert.deepEqual(sent(server), [[1, "found_error", [-1]]]);
  assert.equal(again.problem(), "B");
});
test("what another window has sent is no longer said to be unsent here", async () => {
  const { server, storage, page } = await begun(["A", "B"]);
  page.rate(-1);
  server.down = true;
  await page.delivery.submit();
  server.down = false;
  await openPage(server, storage).start();
  assert.deepEqual([server.labels.length, page.store.state.unsent], [1, 1]);
  await page.delivery.replay();
  assert.deepEqual([server.labels.length, page.store.state.unsent], [1, 0]);
});
test("an ended session asks to sign in and then goes on, for drafts, submits and the next solution", async () => {
  const server = makeServer(["A", "B"]);
  const page = openPage(server, makeStorage(), { signIn: () => { server.signedOut = false; } });
  server.signedOut = true;
  await page.start();
  assert.equal(page.problem(), "A");
  server.signedOut = true;
  page.rate(1);
  await page.tick();
  assert.deepEqual(server.items[0].draft.ratings, [1, null, null]);
  server.signedOut = true;
  page.rate(-1);
  await page.delivery.submit();
  assert.deepEqual([sent(server), page.problem()], [[[1, "found_error", [1, -1]]], "B"]);
  assert.deepEqual(page.asked, ["signIn", "signIn", "signIn"]);
});
test("a server that is ill (500, or a page instead of JSON) is a line that is down", async () => {
  const { server, page } = await begun(["A"]);
  server.fault = 502;
  page.rate(-1);
  await page.delivery.submit();
  assert.deepEqual([page.store.state.unsent, page.problem()], [1, "offline"]);
  server.fault = null;
  await page.delivery.replay();
  assert.equal(server.labels.length, 1);
});
for (const [choice, disputed] of [["wrong", true], ["same", false]]) {
  test(`all steps fine, answer graded wrong: asked once, "${choice}" is recorded`, async () => {
    const { server, page } = await begun(["A!"], { confirm: choice });
    page.rate(1, 1, 1);
    await page.delivery.submit();
    assert.deepEqual(page.asked, ["confirm"]);
    const { answer_confirmed: confirmed, key_disputed: dispute } = server.labels[0].body;
    assert.deepEqual([confirmed, dispute], [true, disputed]);
  });
}
test("looking again leaves the work open and nothing unsent", async () => {
  const { server, page } = await begun(["A!"], { confirm: null });
  page.rate(1, 1, 1);
  await page.delivery.submit();
  assert.deepEqual([server.labels.length, page.problem(), page.store.state.unsent, page.store.state.sending], [0, "A!", 0, false]);
  page.store.send({ type: "rate", step: 2, value: -1 });
  await page.delivery.submit();
  assert.deepEqual(sent(server), [[1, "found_error", [1, 1, -1]]]);
});
test("a submit from an offline time whose answer is in doubt is asked about when it is sent", async () => {
  const { server, page } = await begun(["A!"], { confirm: "wrong" });
  page.rate(1, 1, 1);
  server.down = true;
  await page.delivery.submit();
  server.down = false;
  await page.delivery.replay();
  assert.deepEqual([page.asked, server.labels[0].body.key_disputed, page.problem()], [["confirm"], true, "done"]);
});
test("another window's draft is never overwritten unseen: the person chooses", async () => {
  for (const [choice, expected] of [["theirs", [-1, null, null]], ["mine", [1, null, null]]]) {
    const { server, page } = await begun(["A"], { stale: choice });
    Object.assign(server.items[0], { draft: { ratings: [-1, null, null] }, version: 5 });
    page.rate(1);
    await page.tick();
    assert.deepEqual([page.asked, page.store.state.ratings], [["stale"], expected]);
    assert.deepEqual(server.items[0].draft.ratings, expected);
  }
});
test("when the answer to a save was lost, the draft on the server is known as ours", async () => {
  const { server, page } = await begun(["A"]);
  await page.tick();
  server.lose = 1;
  page.rate(1);
  await page.tick();
  assert.equal(page.store.state.save, "unsaved");
  await page.tick();
  assert.deepEqual([page.asked, page.store.state.save, page.store.state.version], [[], "saved", 1]);
});
test("a reload with a draft older than another window's asks which one goes on", async () => {
  const { server, storage, page } = await begun(["A"]);
  server.down = true;
  page.rate(1);
  server.down = false;
  Object.assign(server.items[0], { draft: { ratings: [0, null, null] }, version: 2 });
  const again = openPage(server, storage, { stale: "mine" });
  await again.start();
  assert.deepEqual([again.asked, again.store.state.ratings, server.items[0].draft.ratings], [["stale"], [1, null, null], [1, null, null]]);
});
test("a solution that went to someone else is left, with a word", async () => {
  const { server, page } = await begun(["A", "B"]);
  server.items[0].status = "gone";
  page.rate(-1);
  await page.delivery.submit();
  assert.deepEqual([page.problem(), page.said.at(-1), page.store.state.unsent], ["B", "not_yours", 0]);
});
test("when another person signed in on this browser, the work is kept for its owner", async () => {
  const { server, storage, page } = await begun(["A", "B"], { signedIn: "someone else" });
  server.items[0].status = "gone"; // as the server sees it for the other person
  page.rate(-1);
  await page.delivery.submit();
  assert.ok(page.said.includes("reload"));
  server.items[0].status = "leased";
  const again = openPage(server, storage);
  await again.start();
  assert.deepEqual(sent(server), [[1, "found_error", [-1]]]);
});
test("what was sent can be taken back; the present work waits with its ratings", async () => {
  const { server, page } = await begun(["A", "B"]);
  page.rate(1, -1);
  await page.delivery.submit();
  page.rate(0);
  await page.session.reopen(page.store.state.last.label);
  assert.deepEqual([page.problem(), page.store.state.ratings], ["A", [1, -1, null]]);
  page.store.send({ type: "rate", step: 1, value: 0 });
  page.rate(1);
  await page.delivery.submit();
  assert.deepEqual(sent(server).at(-1), [1, "solution", [1, 0, 1]]);
  assert.deepEqual([page.problem(), page.store.state.ratings], ["B", [0, null, null]]);
});
test("a browser that keeps nothing still works with the server", async () => {
  const server = makeServer(["A"]);
  const storage = makeStorage();
  storage.full = true;
  const page = openPage(server, storage);
  await page.start();
  page.rate(-1);
  await page.tick();
  await page.delivery.submit();
  assert.equal(server.labels.length, 1);
});
test("people who share a browser do not see each other's journal", async () => {
  const { makeJournal } = await import("../../static/js/label/journal.js");
  const storage = makeStorage();
  makeJournal(storage, "ann").keepSubmit(1, {}, "A");
  assert.deepEqual(makeJournal(storage, "bob").unsent(), []);
  assert.equal(makeJournal(storage, "ann").unsent().length, 1);
});
test("a draft that nobody came back to in a month is forgotten, an unsent judgement never", async () => {
  const { makeJournal } = await import("../../static/js/label/journal.js");
  const storage = makeStorage();
  const then = makeJournal(storage, "ann", () => 0);
  then.keepDraft(1, 0, {}, "A");
  then.keepSubmit(2, {}, "B");
  const kept = makeJournal(storage, "ann", () => 31 * 24 * 3600 * 1000).unsent();
  assert.deepEqual(kept.map((entry) => [entry.kind, entry.id]), [["submit", 2]]);
});
