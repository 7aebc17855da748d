import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDemands, readDemands } from "./demands.js";

test("demands on secrets are read as they are saved, also without a method that keeps them", () => {
  assert.deepEqual(readDemands({ secrets: [], l: "", t: "" }), { sensitive: null, l: null, t: null });
  assert.deepEqual(readDemands({ secrets: ["pay"], l: "2", t: "Bound" }), { sensitive: "pay", l: 2, t: "bound" });
  assert.deepEqual(readDemands({ secrets: ["pay", "faith"], l: "1,5", t: "0.2" }), { sensitive: ["pay", "faith"], l: 1.5, t: 0.2 });
});
test("a demand about no column, or out of range, says what to do", () => {
  assert.throws(() => readDemands({ secrets: [], l: "2", t: "" }), /Choose the column that l = 2 is about/);
  assert.throws(() => readDemands({ secrets: ["pay"], l: "", t: "2" }), /above 0 and at most 1/);
  assert.throws(() => readDemands({ secrets: ["pay"], l: "1e99", t: "" }), /from 1 to 1,000,000/);
});
test("a method that cannot keep a demand is told in the words of the form, with those that can", () => {
  const others = [{ label: "Partition", inputs: ["k", "l", "t", "importance"] }, { label: "Fewest cells blanked", inputs: ["k", "l", "importance"] }], ranges = { label: "Same ranges for everybody", inputs: ["resolution"] };
  const none = { l: null, t: null };
  checkDemands({ l: 2, t: 0.2 }, ["age"], others[0], others);
  checkDemands(none, [], ranges, others);
  assert.throws(() => checkDemands({ ...none, l: 2 }, [], ranges, others), /“Same ranges for everybody” makes no promise of l = 2.*Partition, Fewest cells blanked/);
  assert.throws(() => checkDemands({ ...none, t: 0.2 }, [], others[1], others), /“Fewest cells blanked” makes no promise of t = 0.2.*\(Partition\)/);
  assert.throws(() => checkDemands(none, ["age"], ranges, others), /heeds no importance of columns \(age\).*Partition, Fewest cells blanked/);
});
