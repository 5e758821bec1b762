// Keys, clock, calculator, cookie, strings: the small pure parts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cookie } from "../../static/js/cookie.js";
import { CalcError, evaluate } from "../../static/js/label/calc.js";
import { makeStrings } from "../../static/js/label/dom.js";
import { actionOf, HELP } from "../../static/js/label/keys.js";
import { written } from "../../static/js/label/numbers.js";
import { withoutTitle } from "../../static/js/label/view-screens.js";
import { makeTimer, minutesSeconds } from "../../static/js/label/timer.js";
import { random } from "./random.js";

// --- Keys
const press = (key, fields = {}) => actionOf({ key, target: { tagName: "DIV" }, ...fields });
for (const [keys, action] of [
  ["a A 1", { type: "rate", value: 1 }], ["s 2", { type: "rate", value: 0 }], ["d D 3", { type: "rate", value: -1 }],
  ["ArrowDown j", { type: "move", by: 1 }], ["ArrowUp k", { type: "move", by: -1 }], ["u", { type: "unrated" }],
  ["z", { type: "undo" }], ["g", { type: "giveUp" }], ["p", { type: "badProblem" }], ["n Enter", { type: "submit" }],
  ["r", { type: "raw" }], ["?", { type: "help" }], ["w", { type: "dispute" }],
]) {
  test(`keys ${keys}`, () => keys.split(" ").forEach((key) => assert.deepEqual(press(key), action)));
}
test("typing in a field is typing", () => {
  for (const tagName of ["INPUT", "TEXTAREA", "SELECT"]) assert.equal(press("a", { target: { tagName } }), null);
  assert.equal(press("a", { target: { tagName: "DIV", isContentEditable: true } }), null);
});
test("the browser's own shortcuts stay the browser's", () => {
  for (const held of ["ctrlKey", "metaKey", "altKey", "isComposing", "defaultPrevented"]) assert.equal(press("a", { [held]: true }), null);
});
test("an open dialog has the keys", () => assert.equal(actionOf({ key: "a", target: {} }, { blocked: true }), null));
test("Enter on a button presses that button", () => {
  for (const tagName of ["BUTTON", "A", "SUMMARY"]) assert.equal(press("Enter", { target: { tagName } }), null);
});
test("no key alone deletes, and held keys never rate or submit twice", () => {
  for (const key of ["Backspace", "Delete", "Escape", "x", " ", "constructor", "__proto__"]) assert.equal(press(key), null);
  for (const key of ["a", "n", "z", "Enter"]) assert.equal(press(key, { repeat: true }), null);
  assert.deepEqual(press("j", { repeat: true }), { type: "move", by: 1 });
});
test("the help lists every key that does something", () => {
  const shown = new Set(HELP.flatMap(([keys]) => keys).map((key) => ({ "↓": "ArrowDown", "↑": "ArrowUp" })[key] ?? key));
  const working = [..."abcdefghijklmnopqrstuvwxyz0123456789?"].filter((key) => press(key)).map((key) => key.toUpperCase());
  assert.deepEqual(working.filter((key) => !shown.has(key)), []);
  for (const key of shown) assert.ok(press(key), `${key} is listed and does nothing`);
});

// --- Clock
function clock() {
  let at = 1000;
  const timer = makeTimer(() => at, 60_000);
  return { timer, pass: (ms) => { at += ms; } };
}
test("time without a sign of life is not active after a minute", () => {
  const { timer, pass } = clock();
  pass(50_000);
  timer.touch();
  pass(200_000);
  assert.deepEqual(timer.read(), { total: 250_000, active: 110_000, onStep: 110_000 });
  assert.ok(timer.isIdle());
  timer.touch();
  pass(1_000);
  assert.equal(timer.read().active, 111_000);
});
test("a hidden page is not active", () => {
  const { timer, pass } = clock();
  pass(5_000);
  timer.show(false);
  pass(30_000);
  timer.show(true);
  pass(2_000);
  assert.deepEqual(timer.read(), { total: 37_000, active: 7_000, onStep: 7_000 });
});
test("a solution taken up again goes on counting where it was", () => {
  const { timer, pass } = clock();
  pass(9_000);
  timer.restart({ total_ms: 70_000, active_ms: 40_000 });
  pass(1_000);
  timer.step();
  pass(2_000);
  assert.deepEqual(timer.read(), { total: 73_000, active: 43_000, onStep: 2_000 });
  timer.restart({ total_ms: "nonsense" });
  assert.deepEqual(timer.read(), { total: 0, active: 0, onStep: 0 });
});
test("minutes and seconds", () => assert.deepEqual(minutesSeconds(72_900), { minutes: 1, seconds: 12 }));

// --- Calculator
const value = (text) => written(evaluate(text)).text;
for (const [text, expected] of [
  ["5*14 - 2*(3*14-7)", "0"], ["1/3+1/6", "1/2"], ["0.1+0.2", "3/10"], ["2^10", "1024"], ["2^-2", "1/4"], ["-2^2", "-4"], ["(-2)^2", "4"],
  ["2**3", "8"], ["2^3^2", "512"], ["50%*80", "40"], ["1,234,567.5*2", "2469135"], ["2(3+4)", "14"], ["(1+2)(3+4)", "21"], ["6:4", "3/2"], ["7 × 8 ÷ 2 − 1", "27"],
  ["--3", "3"], ["+4", "4"], [".5", "1/2"], ["5.", "5"], ["10/4/5", "1/2"], ["10-4-5", "1"], ["  7  ", "7"], ["0/5", "0"], ["99999999999999999999+1", "100000000000000000000"],
]) {
  test(`${text} is ${expected}`, () => assert.equal(value(text), expected));
}
for (const [text, code] of [
  ["1/0", "zero"], ["2^0.5", "root"], ["9^99999", "large"], ["(1+2", "parenthesis"], ["1+2)", "parenthesis"], ["1+", "unfinished"], ["", "unfinished"], ["  ", "unfinished"],
  ["x+1", "unexpected"], ["alert(1)", "unexpected"], ["1 2", "unexpected"], ["1,23", "comma"], ["1.2.3", "number"], ["(".repeat(200), "deep"], ["0^-1", "zero"],
]) {
  test(`${JSON.stringify(text.slice(0, 20))} says why it has no value`, () => assert.throws(() => evaluate(text), (error) => error instanceof CalcError && error.message === code));
}
test("random sums agree with floating point arithmetic", () => {
  const pick = random(3);
  for (let round = 0; round < 3000; round += 1) {
    const text = Array.from({ length: 1 + pick(6) }, () => `${1 + pick(40)}`).reduce((all, n) => `(${all}${"+-*/"[pick(4)]}${n})`);
    let expected;
    try {
      expected = Function(`"use strict"; return ${text}`)();
    } catch { continue; }
    if (!Number.isFinite(expected)) continue;
    const { n, d } = evaluate(text);
    assert.ok(Math.abs(Number(n) / Number(d) - expected) < 1e-9 * Math.max(1, Math.abs(expected)), text);
  }
});
test("decimals are shown in full when they end, and marked when they do not", () => {
  assert.equal(written(evaluate("1/8")).decimal, "0.125");
  assert.equal(written(evaluate("-2/3")).decimal, "-0.6666666666…");
  assert.equal(written(evaluate("4")).decimal, "");
  assert.equal(written(evaluate("1/1000000000000")).decimal, "0.0000000000…");
});

// --- Words
test("a cookie is found by its whole name", () => {
  assert.equal(cookie("csrftoken", "a=1; csrftoken=x%3Dy; xcsrftoken=no"), "x=y");
  assert.equal(cookie("none", "a=1"), "");
});
test("strings are filled in, and a missing one shows its name", () => {
  const t = makeStrings({ hi: "Step {n} of {total}, {other}" });
  assert.equal(t("hi", { n: 0, total: 3 }), "Step 0 of 3, {other}");
  assert.equal(t("nope"), "nope");
});
test("a message does not repeat its title", () => {
  assert.equal(withoutTitle("All done: there is nothing left.", "All done"), "There is nothing left.");
  assert.equal(withoutTitle("Others work on it.", "All done"), "Others work on it.");
  assert.equal(withoutTitle("All done", "All done"), "");
});
