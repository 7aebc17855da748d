import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { verdictOf } = await import("./verdict-bar.js");
const { whatIsMissing } = await import("./project.js");
const { chainInWords } = await import("./person.js");
const state = { candidate: null, verdict: null, isStale: false, isRunning: false, open: 0, columns: 9, sentence: "So many." };
const no = { stands: "no", decision: "over", headline: "No", because: "too high" };

test("nobody knows yet, or any more: the bar has no colour of an answer", () => {
  for (const more of [{}, { isRunning: true }, { verdict: no, isRunning: true }, { verdict: no, isStale: true }]) assert.equal(verdictOf({ ...state, ...more }).stands, "stale");
  assert.match(verdictOf({ ...state, open: 3 }).because, /^3 of 9 columns are not answered: they count as known and as sensitive\. So many\.$/);
});
test("the next step follows the answer", () => {
  const next = (more) => verdictOf({ ...state, ...more }).next?.does;
  assert.deepEqual([next({}), next({ verdict: no }), next({ verdict: no, open: 2 }), next({ verdict: { ...no, decision: "within" } })], ["assess", "safe", "columns", "decide"]);
  const candidate = { question_changed: false, stands: "if", decision: "within", headline: "Yes", name: "one", sentence: "It may go." };
  assert.deepEqual([next({ verdict: no, candidate }), next({ verdict: no, candidate: { ...candidate, decision: "over" } })], ["decide", "solve"]);
  assert.equal(verdictOf({ ...state, verdict: no, candidate: { ...candidate, question_changed: true } }).headline, "No"); // nobody has judged it by the settings of now
});
test("it goes out once every condition is ticked, and a name is given", () => {
  const asked = { conditions: ["a", "b"], ticked: new Map([["a", ""]]), name: "A. Reviewer", isYes: true, note: "" };
  assert.equal(whatIsMissing(asked), "Confirm the second condition first.");
  assert.equal(whatIsMissing({ ...asked, ticked: new Map([["a", ""], ["b", "so"]]) }), "");
  assert.equal(whatIsMissing({ ...asked, ticked: new Map([["a", ""], ["b", "so"]]), name: " " }), "Enter your name.");
  assert.match(whatIsMissing({ ...asked, isYes: false, conditions: [] }), /write in the note/);
});
test("the chain says in how few steps somebody is found", () => {
  assert.equal(chainInWords({ alike: 1, found_by: [1, 2, 3, 4] }), "One of them, found in four steps");
  assert.equal(chainInWords({ alike: 3, found_by: [1] }), "One of 3 who look alike");
});
