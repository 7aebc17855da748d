import assert from "node:assert/strict";
import { test } from "node:test";
import { PURPOSES, curveQuestion, pastedRanks, pastedTechniques } from "./curve-questions.js";

test("ranks are whole numbers from 1, however they are parted", () => {
  assert.deepEqual(pastedRanks("1, 3\n2;17"), [1, 3, 2, 17]);
  assert.throws(() => pastedRanks("1 0"), /2\. rank/);
  assert.throws(() => pastedRanks("1 x"), /2\. rank/);
  assert.throws(() => pastedRanks("1"), /two probes/);
});
test("a technique is a name and its points", () => {
  const [faces, voices] = pastedTechniques("faces\n100 0.99\n1,000 95%\n\nvoices\n100\t0.9\n1000 0.7");
  assert.deepEqual(faces, { name: "faces", points: [{ n: 100, correctness: 0.99 }, { n: 1000, correctness: 0.95 }] });
  assert.equal(voices.name, "voices");
  assert.throws(() => pastedTechniques("100 0.99"), /name of a technique/);
  assert.throws(() => pastedTechniques("faces\n100 0.9\n1000 0.8"), /two techniques/);
  assert.throws(() => pastedTechniques("faces\n100 0.9\n1000 8\nvoices\n1 1\n2 1"), /^Error: faces: Line 2/);
});
test("a form becomes a question, or says what is missing", () => {
  assert.deepEqual(curveQuestion("exact", { compare: true }), ["curves/exact", { compare: true }]);
  assert.deepEqual(curveQuestion("items", { person: "who", item: "what", known: 2 }), ["itemsets", { person: "who", item: "what", known: 2 }]);
  assert.deepEqual(curveQuestion("protect-items", { person: "who", item: "what", known: 2, k: 5 }), ["set-protections", { person: "who", known: 2, k: 5, item: "what" }]);
  assert.deepEqual(curveQuestion("protect-points", { person: "who", item: "x", second: "y", time: "day", amount: "", known: 1, k: 5 })[1], { person: "who", known: 1, k: 5, time: "day", place: ["x", "y"], amount: null });
  assert.throws(() => curveQuestion("protect-points", { person: "who", item: "x", time: "" }), /times/);
  assert.deepEqual(curveQuestion("sparse", { person: "who", item: "what", known: 3 })[1], { person: "who", item: ["what"], known: 3, compare: false });
  assert.deepEqual(curveQuestion("ranks", { ranks: "rank", group: "", confidence: "sure" })[1], { ranks: "rank", group: null, confidence: "sure", compare: false });
  assert.throws(() => curveQuestion("sparse", { person: "who", item: "" }), /what they have/);
  assert.throws(() => curveQuestion("robust", { gallery: "" }), /gallery/);
  assert.deepEqual(curveQuestion("regenerate", { counts: "ab" }), ["regenerations", { counts: "ab" }]);
  assert.throws(() => curveQuestion("regenerate", { counts: "" }), /counts/);
});
test("every question has a purpose", () => {
  for (const kind of ["exact", "check", "sparse", "ranks", "pasted", "robust", "techniques", "items", "protect-items", "protect-points", "masked", "regenerate"]) assert.match(PURPOSES[kind], /^[A-Z].*[.?]$/);
});
