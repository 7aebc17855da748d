import assert from "node:assert/strict";
import { test } from "node:test";
import { stepInWords } from "./trail.js";

const changed = (details, what = "settings changed") => stepInWords({ what, details });

test("a step says which columns got which role, and what was confirmed", () => {
  assert.equal(changed({ roles: { age: ["other", "quasi-identifier"] }, decided: ["age"] }), "age: known");
  assert.equal(changed({ roles: { a: [null, "drop"], b: [null, "drop"], c: [null, "drop"], d: [null, "drop"] } }), "4 columns: left out");
  assert.equal(changed({ decided: ["age", "sex"], "open again": ["note"] }), "age, sex confirmed; note open again");
  assert.equal(changed({ roles: { age: ["quasi-identifier", "other"] } }, "undone"), "undone: age: neither");
});
test("a step says what other settings were and are", () => {
  assert.equal(changed({ population: [null, 70000000], recipient: ["public", "trusted"], also: ["protection"] }), "people in the population: none → 70,000,000; recipient: public → trusted; protection changed");
});
test("work and decisions are in the words of the page", () => {
  assert.equal(stepInWords({ what: "assessment done", details: { headline: "No: the risk is too high" } }), "assessed: No: the risk is too high");
  assert.equal(stepInWords({ what: "release done", details: {} }), "report of a protected table made");
  assert.equal(stepInWords({ what: "decided: release", details: { by: "A. Berger" } }), "decided: goes out, says A. Berger");
});
test("a step of a project that somebody wrote by hand is shown as it is", () => {
  for (const details of [{}, { roles: 7, decided: "age" }, { roles: { age: "x" } }, { population: "many", also: [3] }]) assert.equal(changed(details), "settings changed");
  assert.deepEqual([stepInWords({ what: "opened" }), stepInWords({ what: "leak done", details: { headline: 3 } })], ["opened", "leak done"]);
});
