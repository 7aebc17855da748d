import assert from "node:assert/strict";
import { test } from "node:test";
import { ALONE, CROWD, SMALL, groupsOf, layout, peopleByLimit } from "./crowd-layout.js";

// 6 people: a class of three, one of two, one alone
const people = { each: "person", size: [3, 2, 3, 1, 2, 3], people: [1, 1, 1, 1, 1, 1], class_of: [0, 1, 0, 2, 1, 0] };
const far = (made, mark) => Math.hypot(made.x[mark], made.y[mark]);

test("people of a class stand together, and those alone at the rim", () => {
  assert.deepEqual(groupsOf(people).map((group) => group.marks), [[0, 2, 5], [1, 4], [3]]);
  const made = layout(people, 3);
  assert.deepEqual([...made.kind], [CROWD, SMALL, CROWD, ALONE, SMALL, CROWD]);
  for (const other of [0, 1, 2, 4, 5]) assert.ok(far(made, other) < far(made, 3));
});
test("every mark is within the circle, whatever the crowd", () => {
  let seed = 7;
  const draw = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let round = 0; round < 20; round += 1) {
    const class_of = Array.from({ length: 300 }, () => Math.floor(60 * draw() ** 3)), sizes = new Map();
    for (const one of class_of) sizes.set(one, (sizes.get(one) ?? 0) + 1);
    const marks = { size: class_of.map((one) => sizes.get(one)), people: class_of.map(() => 1), class_of };
    const made = layout(marks, 5);
    for (let mark = 0; mark < 300; mark += 1) assert.ok(far(made, mark) <= 1.0001, `${far(made, mark)}`);
  }
});
test("marks for classes or for shares of the people are drawn by how many they stand for", () => {
  const made = layout({ each: "class", size: [1, 4], people: [1, 4], class_of: undefined }, 2);
  assert.ok(Math.abs(made.radius[1] / made.radius[0] - 2) < 1e-6);
  const large = layout({ each: "share", size: [1, 1, 40], people: [500, 500, 5000] }, 5);
  assert.deepEqual([...large.kind], [ALONE, ALONE, CROWD]);
});
test("who was left out of a candidate is not drawn, and the others are the same people", () => {
  const made = layout({ each: "person", size: [2, 0, 2], people: [1, 0, 1], class_of: [7, -1, 7] }, 2);
  assert.deepEqual([made.radius[1], made.radius[0] > 0, made.radius[2] > 0], [0, true, true]);
});
test("the people by the limit add up to everybody", () => {
  const sizes = [1, 2, 7, 60], counts = [10, 5, 2, 1], total = 10 + 10 + 14 + 60;
  assert.deepEqual(peopleByLimit(sizes, counts, 5), { alone: 10, few: 10, enough: 74 });
  for (const least of [2, 7, 11, 99]) assert.equal(Object.values(peopleByLimit(sizes, counts, least)).reduce((sum, one) => sum + one), total);
  assert.deepEqual(peopleByLimit([11, 12], [3, 4], 11), { alone: 0, few: 0, enough: 81 });
});
