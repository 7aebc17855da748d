import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { candidateConditions, splitSentence } = await import("./conditions.js");

test("the recommendation of a yes comes before its conditions; a no has its own reasons", () => {
  const card = { sentence: "It may go out, if nobody knows age.", conditions: ["It was attacked."] };
  assert.deepEqual(candidateConditions({ ...card, decision: "within" }), ["It may go out, if nobody knows age.", "It was attacked."]);
  assert.deepEqual(candidateConditions({ ...card, decision: "over" }), ["It was attacked."]);
});
test("the beginning of every sentence is visible, and nothing of a long one is lost", () => {
  assert.deepEqual(splitSentence("Careful: age names people."), ["Careful: age names people.", ""]);
  const long = Array.from({ length: 99 }, (_, number) => `column${number}`).join(" "), [start, rest] = splitSentence(long);
  assert.equal(`${start} ${rest}`, long);
  assert.ok(start.length > 150 && start.length < 320);
});
