// The page's decisions: what may be rated, what counts, what Undo brings back, when it is complete.
import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, effective, finishReason, firstUnrated, reach, sameDraft, submission } from "../../static/js/label/rules.js";
import { EMPTY, reduce } from "../../static/js/label/store.js";
import { random } from "./random.js";

const task = (mode = "first_error", n = 4, fields = {}) => ({ id: 1, problem: "p", answer: "7", steps: Array.from({ length: n }, (_, i) => `s${i}`), mode, reasons: ["wrong rule"], draft: {}, draft_version: 3, lease_seconds: 1800, ...fields });
const opened = (mode, n, fields) => reduce(EMPTY, { type: "work", assignment: task(mode, n, fields), progress: { today: 1 } });
const run = (state, ...events) => events.reduce(reduce, state);
const rate = (step, value) => ({ type: "rate", step, value });
const TIMES = { total: 1000.4, active: 900.6, onStep: 1 };
const body = (state, extra = {}) => submission(state, { key: "k", times: TIMES, ...extra });

test("a solution opens at its first step without a rating", () => {
  assert.equal(opened().current, 0);
  const half = opened("first_error", 4, { draft: { ratings: [1, 0], reasons: { 1: "wrong rule" }, note: "n", key_disputed: true } });
  assert.deepEqual([half.current, half.ratings, half.reasons, half.note, half.keyDisputed, half.version], [2, [1, 0, null, null], { 1: "wrong rule" }, "n", true, 3]);
  assert.equal(half.save, "saved");
});
test("rating moves on to the next step that waits", () => {
  const state = run(opened(), rate(0, 1), rate(1, 0));
  assert.deepEqual([state.current, state.ratings], [2, [1, 0, null, null]]);
});
test("a step beyond the live one cannot be rated or reached", () => {
  const state = opened();
  assert.equal(reduce(state, rate(2, 1)), state);
  assert.equal(reduce(state, { type: "goto", step: 3 }), state);
  assert.equal(reduce(state, rate(-1, 1)), state);
});
test("the first bad step ends the list and stays live for its reason", () => {
  const state = run(opened(), rate(0, 1), rate(1, -1));
  assert.deepEqual([state.current, firstUnrated(state.ratings, "first_error"), reach(state.ratings, "first_error")], [1, -1, 1]);
  assert.equal(finishReason(state.ratings, "first_error"), "found_error");
});
test("an earlier rating is corrected in place and the live step is taken up again", () => {
  const state = run(opened(), rate(0, 1), rate(1, 1), { type: "goto", step: 0 }, rate(0, 0));
  assert.deepEqual([state.ratings, state.current], [[0, 1, null, null], 2]);
});
test("a correction to bad hides later ratings, and taking it back shows them again", () => {
  const bad = run(opened(), rate(0, 1), rate(1, 1), rate(2, 1), rate(0, -1));
  assert.deepEqual(effective(bad.ratings, "first_error"), [-1, null, null, null]);
  assert.deepEqual(body(bad).ratings, [-1]);
  const good = reduce(bad, rate(0, 1));
  assert.deepEqual(body(good).ratings, [1, 1, 1]);
  assert.equal(good.current, 3);
});
test("in full mode every step is rated, also after a bad one, in any order", () => {
  const state = run(opened("full"), rate(3, -1), rate(0, 1));
  assert.deepEqual([state.ratings, state.current], [[1, null, null, -1], 1]);
  const done = run(state, rate(1, 0), rate(2, 1));
  assert.deepEqual([firstUnrated(done.ratings, "full"), body(done).ratings, body(done).finish_reason], [-1, [1, 0, 1, -1], "found_error"]);
});
test("the same rating again changes nothing but makes that step live", () => {
  const state = run(opened(), rate(0, 1));
  const again = reduce(state, rate(0, 1));
  assert.deepEqual([again.current, again.edits, again.history.length], [0, state.edits, 1]);
});
test("undo brings back ratings, reasons and place, one change at a time", () => {
  const state = run(opened(), rate(0, 1), rate(1, -1), { type: "reason", step: 1, reason: "wrong rule" });
  const one = reduce(state, { type: "undo" });
  assert.deepEqual([one.reasons, one.ratings[1]], [{}, -1]);
  const all = run(one, { type: "undo" }, { type: "undo" });
  assert.deepEqual([all.ratings, all.current, all.history], [[null, null, null, null], 0, []]);
  assert.equal(reduce(all, { type: "undo" }), all);
  assert.ok(all.edits > state.edits, "an undo is a change that must be saved too");
});
test("a reason is chosen and unchosen, and leaves with its rating", () => {
  const state = run(opened(), rate(0, -1), { type: "reason", step: 0, reason: "wrong rule" });
  assert.deepEqual(body(state).step_reasons, { 0: "wrong rule" });
  assert.deepEqual(body(reduce(state, { type: "reason", step: 0, reason: "wrong rule" })).step_reasons, {});
  assert.deepEqual(body(reduce(state, rate(0, 1))).step_reasons, {});
});
test("while a submit is on its way nothing changes", () => {
  const state = run(opened(), rate(0, 1), { type: "sending", on: true });
  for (const event of [rate(1, 1), { type: "undo" }, { type: "dispute" }]) assert.equal(reduce(state, event), state);
});
test("a save counts only for what it held", () => {
  const state = run(opened(), rate(0, 1), { type: "saving" });
  assert.equal(state.save, "saving");
  const edits = state.edits;
  const later = run(state, rate(1, 1), { type: "saved", version: 4, edits });
  assert.deepEqual([later.version, later.savedEdits, later.save], [4, edits, "unsaved"]);
  assert.equal(reduce(later, { type: "saved", version: 5, edits: later.edits }).save, "saved");
});
test("a state of the queue clears the work and keeps the progress", () => {
  const state = run(opened(), rate(0, 1), { type: "state", state: "wait", message: "m", in_progress: 2 });
  assert.deepEqual([state.screen, state.message, state.detail, state.task, state.ratings, state.progress], ["wait", "m", { in_progress: 2 }, null, [], { today: 1 }]);
});
test("give up carries its note and the ratings made so far", () => {
  const sent = body(run(opened(), rate(0, 1)), { finish: "give_up", note: "cannot follow" });
  assert.deepEqual(sent, {
    idempotency_key: "k", finish_reason: "give_up", ratings: [1], step_reasons: {}, note: "cannot follow",
    key_disputed: false, answer_confirmed: false, total_time_ms: 1000, active_time_ms: 901,
  });
});
test("an unknown event is an error", () => assert.throws(() => reduce(EMPTY, { type: "nonsense" })));
test("drafts are the same when they say the same, whatever the times", () => {
  assert.ok(sameDraft({ ratings: [1, null], active_ms: 5 }, { ratings: [1], reasons: {}, active_ms: 9 }));
  assert.ok(sameDraft({}, { ratings: [null, null], note: "", key_disputed: false }));
  for (const other of [{ ratings: [0] }, { ratings: [1], note: "x" }, { ratings: [1], key_disputed: true }, { ratings: [1], reasons: { 0: "a" } }]) {
    assert.ok(!sameDraft({ ratings: [1] }, other));
  }
});
test("whatever is pressed, the state keeps its promises", () => {
  const pick = random(11);
  for (let game = 0; game < 400; game += 1) {
    const mode = pick(2) ? "full" : "first_error";
    let state = opened(mode, 1 + pick(6));
    for (let press = 0; press < 60; press += 1) {
      const event = [rate(pick(7) - 1, pick(3) - 1), { type: "move", by: pick(5) - 2 }, { type: "undo" }, { type: "unrated" }, { type: "reason", step: pick(3), reason: "wrong rule" }, { type: "raw" }][pick(6)];
      const before = JSON.stringify(state);
      const next = reduce(state, event);
      assert.equal(JSON.stringify(state), before, "the state is never changed in place");
      state = next;
      const counted = effective(state.ratings, mode);
      assert.ok(state.current >= 0 && state.current < state.task.steps.length);
      assert.equal(state.ratings.length, state.task.steps.length);
      if (mode === "first_error") {
        const stop = counted.indexOf(-1);
        if (stop >= 0) assert.ok(counted.slice(stop + 1).every((rating) => rating === null));
        const end = counted.findIndex((rating) => rating === null);
        if (end >= 0) assert.ok(counted.slice(end).every((rating) => rating === null), "no gap in what is sent");
      }
      // A draft that is saved and opened again gives the same judgement.
      const again = opened(mode, state.task.steps.length, { draft: JSON.parse(JSON.stringify(draftOf(state, TIMES))) });
      assert.deepEqual(body(again), body(state));
    }
  }
});
