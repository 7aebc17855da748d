import assert from "node:assert/strict";
import { test } from "node:test";
import { freeName, groupOf, placed, renamed } from "./groups.js";

const north = [{ name: "north", values: ["A", "B"] }];

test("a value is in one group at most, and an empty group goes", () => {
  const both = placed(north, "C", "south");
  assert.deepEqual(both, [{ name: "north", values: ["A", "B"] }, { name: "south", values: ["C"] }]);
  assert.deepEqual(placed(both, "C", "north"), [{ name: "north", values: ["A", "B", "C"] }]);
  assert.deepEqual(placed(both, "C", null), north);
  assert.equal(groupOf(both, "C"), "south");
  assert.equal(groupOf(both, "D"), null);
});
test("names are free, and a name that is taken joins the two", () => {
  assert.equal(freeName(north), "group 2");
  assert.equal(freeName([{ name: "group 2", values: ["x"] }]), "group 3");
  assert.deepEqual(renamed(placed(north, "C", "south"), "south", "north"), [{ name: "north", values: ["A", "B", "C"] }]);
  assert.deepEqual(renamed(north, "north", "cold"), [{ name: "cold", values: ["A", "B"] }]);
  assert.deepEqual(renamed(north, "north", ""), north);
});
