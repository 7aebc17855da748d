import assert from "node:assert/strict";
import { test } from "node:test";
import { coarseningInWords, sameProtection, valueFor, wayOf, WAYS, waysOf, withValue } from "./ways.js";

test("every rule of the library has its way", () => {
  const rules = { "cuts:18,65/65": "cuts", "5,10": "widths", "quantiles:10": "quantiles", "prefix:3,1": "prefix", dates: "dates", places: "places", auto: "auto" };
  for (const [rule, way] of Object.entries(rules)) { assert.equal(wayOf(rule), way); assert.ok(way in WAYS); }
  assert.equal(wayOf(null), "");
  assert.equal(wayOf([["A", "north"]]), "groups");
  assert.equal(wayOf([["A", "north", "*"]]), "file");
});
test("a number that looks like a code can be cut and grouped", () => {
  const names = (column) => waysOf(column).map(([name]) => name);
  assert.deepEqual(names({ scale: "numeric", scale_suggested: null }), ["", "cuts", "widths", "quantiles", "auto", "file"]);
  assert.ok(["cuts", "groups"].every((name) => names({ scale: "numeric", scale_suggested: "nominal" }).includes(name)));
  assert.deepEqual(names({ scale: "ordered", scale_suggested: null }), ["", "groups", "prefix", "auto", "file"]);
});
test("they are said in words, with how much the column matters", () => {
  assert.equal(coarseningInWords("cuts:18,65/65"), "cut points: 18, 65 / 65");
  assert.equal(coarseningInWords(undefined, 3), "as the method makes it; importance 3");
  assert.equal(coarseningInWords([["A", "north"], ["B", "north"], ["C", "C"]]), "groups of values (2)");
});
test("a column may be called like something that every object has", () => {
  assert.equal(valueFor({}, "__proto__"), undefined);
  assert.equal(valueFor({}, "constructor"), undefined);
  const set = withValue({ age: "5,10" }, "__proto__", "dates");
  assert.deepEqual(Object.keys(set), ["age", "__proto__"]);
  assert.equal(valueFor(set, "__proto__"), "dates");
  assert.deepEqual(withValue(set, "__proto__", null), { age: "5,10" });
});
test("the same protection is known whatever the order of its columns", () => {
  const asked = { k: 11, l: 2, sensitive: ["b", "a"], diverse: ["a", "b"], leave_out: ["x", "y"], t: null };
  assert.ok(sameProtection(asked, { k: 11, l: 2, sensitive: ["a", "b"], diverse: [], leave_out: ["y", "x"] }));
  assert.ok(sameProtection({ k: 5, sensitive: "a" }, { sensitive: ["a"], k: 5 }));
  assert.ok(!sameProtection(asked, { ...asked, leave_out: ["x"] }));
  assert.ok(!sameProtection(asked, { ...asked, diverse: ["a"] }));
  assert.ok(!sameProtection(asked, { ...asked, k: 12 }));
});
