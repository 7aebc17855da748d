import assert from "node:assert/strict";
import { test } from "node:test";
import { ALONE, CROWD, JOINED, SMALL, below, bins, groupsOf, join, layout } from "./crowd-layout.js";

// 6 people: a class of three, one of two, one alone
const people = { each: "person", size: [3, 2, 3, 1, 2, 3], people: [1, 1, 1, 1, 1, 1], class_of: [0, 1, 0, 2, 1, 0] };
const far = (made, mark) => Math.hypot(made.x[mark], made.y[mark]);

test("people of a class stand together, and those alone at the rim", () => {
  assert.deepEqual(groupsOf(people).map((group) => group.marks), [[0, 2, 5], [1, 4], [3]]);
  const made = layout(people, { enough: 3 });
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
    for (const k of [1, 4, 50]) {
      const made = layout(marks, { k, enough: 5 });
      for (let mark = 0; mark < 300; mark += 1) assert.ok(far(made, mark) <= 1.0001, `${far(made, mark)}`);
      if (k > 1) assert.ok(!made.kind.includes(ALONE));
    }
  }
});
test("joining leaves nobody in a class below k, and nobody out", () => {
  for (const k of [2, 3, 4, 6]) {
    const made = join(groupsOf(people), k);
    assert.equal(made.reduce((sum, group) => sum + group.people, 0), 6);
    assert.deepEqual(made.flatMap((group) => group.marks).sort(), [0, 1, 2, 3, 4, 5]);
    for (const group of made) assert.ok(group.size >= k, `class of ${group.size} with k = ${k}`);
  }
  assert.deepEqual([...layout(people, { k: 3, enough: 3 }).kind], [CROWD, JOINED, CROWD, JOINED, JOINED, CROWD]);
});
test("marks for classes or for shares of the people are drawn by how many they stand for", () => {
  const made = layout({ each: "class", size: [1, 4], people: [1, 4], class_of: undefined }, { enough: 2 });
  assert.ok(Math.abs(made.radius[1] / made.radius[0] - 2) < 1e-6);
  const large = layout({ each: "share", size: [1, 1, 40], people: [500, 500, 5000] }, { k: 5, enough: 5 });
  assert.deepEqual([...large.kind], [JOINED, JOINED, CROWD]);
});
test("the table has everybody, as they are and joined", () => {
  const found = bins([1, 2, 7, 60], [10, 5, 2, 1], 5), total = 10 + 10 + 14 + 60;
  assert.deepEqual(found.map((bin) => bin.people), [10, 10, 0, 14, 0, 0, 60]);
  assert.deepEqual(found.map((bin) => bin.after), [0, 0, 0, 34, 0, 0, 60]);
  assert.equal(found.reduce((sum, bin) => sum + bin.after, 0), total);
  assert.equal(below([1, 2, 7], [10, 5, 2], 5), 20);
});
