// Real problems and steps: nearly all render, and nothing is lost. Runs where the data sets are.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { katex } from "./katex.js";
import { gunzipSync } from "node:zlib";
import { adapt, optionsFor } from "../../static/js/math/adapt.js";
import { parse } from "../../static/js/math/parse.js";

const DATA = process.env.STEPMARK_SHARED_DATA ?? "";
const skip = DATA && fs.existsSync(DATA) ? false : "no real data: set STEPMARK_SHARED_DATA";

function lines(name) {
  const raw = fs.readFileSync(path.join(DATA, name));
  const text = (name.endsWith(".gz") ? gunzipSync(raw) : raw).toString("utf8");
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}
const steps = (records) =>
  records.flatMap((record) => record.label.steps.flatMap((step) => (step.completions ?? []).map((made) => made.text)));

/** The share of texts whose every formula renders. */
function share(texts) {
  const fine = texts.filter((text) => {
    const parts = parse(text);
    assert.equal(parts.map((part) => part.raw).join(""), text);
    return parts.every((part) => part.kind !== "math" || renders(part));
  });
  return fine.length / texts.length;
}
function renders({ body, display }) {
  try {
    katex.renderToString(adapt(body, display), optionsFor(display));
    return true;
  } catch {
    return false;
  }
}

test("the 500 MATH problems render", { skip }, (t) => {
  const texts = lines("math/math500.jsonl").map((row) => row.problem);
  const found = share(texts);
  t.diagnostic(`${texts.length} problems, ${(100 * found).toFixed(2)}% without an error`);
  assert.ok(texts.length === 500 && found > 0.995, `only ${found}`);
});

test("PRM800K steps render", { skip }, (t) => {
  const texts = steps([...lines("prm800k/phase1_test_rebuilt.jsonl"), ...lines("prm800k/phase1_raw_sample.jsonl")]);
  const found = share(texts);
  t.diagnostic(`${texts.length} steps, ${(100 * found).toFixed(2)}% without an error`);
  assert.ok(texts.length > 5000 && found > 0.995, `only ${found}`);
});

test("money in GSM8K is not taken for mathematics", { skip }, (t) => {
  const texts = lines("gsm8k/test.jsonl").flatMap((row) => [row.question, row.answer]);
  const wrong = texts.filter((text) => parse(text).some((part) => part.kind === "math"));
  t.diagnostic(`${texts.length} texts without formulas, ${wrong.length} with one found`);
  assert.ok(wrong.length / texts.length < 0.005, JSON.stringify(wrong.slice(0, 3)));
});
