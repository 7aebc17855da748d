import assert from "node:assert/strict";
import { test } from "node:test";
import { filterCounts, neighbour, select, shownColumns } from "./triage.js";

const columns = [
  { name: "Age", type: "integer", reason: "looks like an age", distinct: 80 }, { name: "zip", type: "text", reason: "a place", distinct: 500 },
  { name: "income", type: "number", reason: "its name says money", distinct: null },
];
const settings = { roles: { Age: "quasi-identifier", zip: "quasi-identifier", income: "sensitive" }, decided: ["Age"] };
const names = (options) => shownColumns(columns, settings, options).map((column) => column.name);

test("columns are found by all words of a search, in name, type or reason", () => {
  assert.deepEqual(names({ search: "looks AGE" }), ["Age"]);
  assert.deepEqual(names({ search: "money number" }), ["income"]);
  assert.deepEqual(names({ search: "nowhere" }), []);
});
test("a filter shows the undecided or those of a role, and says how many", () => {
  assert.deepEqual(names({ filter: "undecided" }), ["zip", "income"]);
  assert.deepEqual(names({ filter: "quasi-identifier", search: "z" }), ["zip"]);
  assert.deepEqual(filterCounts(columns, settings, ["sensitive"]), { all: 3, undecided: 2, sensitive: 1 });
});
test("they are in the order of the table, or by name, by values, by what they add", () => {
  assert.deepEqual(names({}), ["Age", "zip", "income"]);
  assert.deepEqual(names({ order: "name" }), ["Age", "income", "zip"]);
  assert.deepEqual(names({ order: "distinct" }), ["income", "zip", "Age"]);
  assert.deepEqual(names({ order: "adds", adds: new Map([["zip", { added_uniques: 0 }], ["Age", { added_uniques: 9 }]]) }), ["Age", "zip", "income"]);
});
test("one is selected, others are added, a range goes from the anchor", () => {
  const all = ["a", "b", "c", "d"], one = select({ selected: new Set(["d"]), anchor: "d" }, all, "b", "one");
  assert.deepEqual([...one.selected], ["b"]);
  assert.deepEqual([...select(one, all, "d", "range").selected], ["b", "c", "d"]);
  assert.deepEqual([...select(one, all, "a", "range").selected], ["a", "b"]);
  assert.deepEqual([...select(one, all, "d", "toggle").selected], ["b", "d"]);
  assert.deepEqual([...select(one, all, "b", "toggle").selected], []);
  assert.deepEqual([...select({ selected: new Set(), anchor: null }, all, "c", "range").selected], ["c"]);
});
test("the first tick after a mere focus starts anew, and further ticks add to it", () => {
  const all = ["a", "b", "c", "d"], focused = select({ selected: new Set(), anchor: null }, all, "a", "one");
  const first = select(focused, all, "b", "tick"), second = select(first, all, "c", "tick");
  assert.deepEqual([...first.selected], ["b"]);
  assert.deepEqual([...second.selected], ["b", "c"]);
  assert.deepEqual([...select(second, all, "b", "tick").selected], ["c"]);
  assert.deepEqual([...select(focused, all, "b", "toggle").selected], ["a", "b"]); // with Ctrl, the one in focus is meant too
});
test("keys lead to a neighbour and stop at the ends", () => {
  const all = ["a", "b", "c"];
  assert.equal(neighbour(all, "b", "ArrowDown"), "c");
  assert.equal(neighbour(all, "c", "ArrowDown"), "c");
  assert.equal(neighbour(all, "a", "ArrowUp"), "a");
  assert.equal(neighbour(all, "a", "End"), "c");
  assert.equal(neighbour(all, "gone", "ArrowUp"), "a");
});
