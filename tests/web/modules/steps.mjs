import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { readStep, stepInWords, writeStep } = await import("./steps.js");
const columns = ["age", "pay", "a+b"];

test("a step is read into its columns, its kind and its numbers, and written the same", () => {
  for (const step of [{ column: "age", action: "noise=0.2" }, { column: "age+pay", action: "recordswap=0.05,match=sex" }, { column: "a+b", action: "shuffle" }]) {
    assert.deepEqual(writeStep(readStep(step, columns)), step);
  }
  assert.deepEqual(readStep({ column: "age+pay", action: "noise=0.2" }, columns), { names: ["age", "pay"], kind: "noise", numbers: "0.2" });
  assert.deepEqual(readStep({ column: "a+b", action: "shuffle" }, columns).names, ["a+b"]); // a column of that name
});
test("a number may be named, and a step without a column is none", () => {
  assert.equal(writeStep({ names: ["age"], kind: "shuffle", numbers: " by=pay " }).action, "shuffle,by=pay");
  assert.equal(writeStep({ names: [], kind: "noise", numbers: "0.2" }), null);
});
test("a card tells a step by the label of the form; a kind without one by its name", () => {
  const labels = new Map([["rankswap", "Values swapped with near ones"]]);
  assert.equal(stepInWords({ column: "age+pay", action: "rankswap=0.05" }, labels), "age+pay: values swapped with near ones 0.05");
  assert.equal(stepInWords({ column: "age", action: "shuffle,by=pay" }, labels), "age: shuffle by=pay");
  assert.equal(stepInWords({ column: "zip", action: "*" }, labels), "zip: *");
});
