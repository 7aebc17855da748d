import assert from "node:assert/strict";
import { test } from "node:test";
import { freeName, groupOf, placeValue, renameGroup } from "./groups.js";

const north = [{ name: "north", values: ["A", "B"] }];

test("a value is in one group at most, and an empty group goes", () => {
  const both = placeValue(north, "C", "south");
  assert.deepEqual(both, [{ name: "north", values: ["A", "B"] }, { name: "south", values: ["C"] }]);
  assert.deepEqual(placeValue(both, "C", "north"), [{ name: "north", values: ["A", "B", "C"] }]);
  assert.deepEqual(placeValue(both, "C", null), north);
  assert.equal(groupOf(both, "C"), "south");
  assert.equal(groupOf(both, "D"), null);
});
test("names are free, and a name that is taken joins the two", () => {
  assert.equal(freeName(north), "group 2");
  assert.equal(freeName([{ name: "group 2", values: ["x"] }]), "group 3");
  assert.deepEqual(renameGroup(placeValue(north, "C", "south"), "south", "north"), [{ name: "north", values: ["A", "B", "C"] }]);
  assert.deepEqual(renameGroup(north, "north", "cold"), [{ name: "cold", values: ["A", "B"] }]);
  assert.deepEqual(renameGroup(north, "north", ""), north);
});
