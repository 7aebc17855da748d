import assert from "node:assert/strict";
import { test } from "node:test";
import { fromRule, moveCut, sortCuts, readPoints, snapper, toRule, addCut, writePoint } from "./cuts.js";

const at = (cuts) => cuts.map((cut) => cut.at);

test("points are typed in any order, and what is no point is refused", () => {
  assert.deepEqual(at(readPoints("65, 18 30,18", false)), [18, 30, 65]);
  assert.deepEqual(at(readPoints("-0.5; 2", false)), [-0.5, 2]);
  assert.throws(() => readPoints("18, old", false), /no number/);
  assert.throws(() => readPoints("1980", true), /no day/);
  assert.equal(writePoint(readPoints("1980-01-31", true)[0].at, true), "1980-01-31");
});
test("a rule has every point at the first level and is read as it was written", () => {
  const cuts = [{ at: 18, until: 1 }, { at: 30, until: 3 }, { at: 65, until: 2 }];
  assert.equal(toRule(cuts, false), "cuts:18,30,65/30,65/30");
  assert.deepEqual(fromRule("cuts:18,30,65/30,65/30", false), cuts);
  assert.equal(toRule([], false), null);
  assert.equal(toRule(fromRule("cuts:1980-01-01/1980-01-01", true), true), "cuts:1980-01-01/1980-01-01");
});
test("a point that is moved stays between its neighbours", () => {
  const cuts = sortCuts([{ at: 10, until: 1 }, { at: 20, until: 2 }, { at: 30, until: 1 }]);
  assert.deepEqual(at(moveCut(cuts, 1, 25, 1)), [10, 25, 30]);
  assert.deepEqual(at(moveCut(cuts, 1, 99, 1)), [10, 29, 30]);
  assert.deepEqual(at(moveCut(cuts, 0, -5, 1)), [-5, 20, 30]);
  assert.equal(moveCut(cuts, 1, 25, 1)[1].until, 2);
});
test("another point halves the widest range, and positions are rounded", () => {
  assert.deepEqual(at(addCut([], 0, 100, snapper(1, false))), [50]);
  assert.deepEqual(at(addCut([{ at: 20, until: 1 }], 0, 101, snapper(1, false))), [20, 61]);
  assert.equal(writePoint(snapper(1, true)(readPoints("1980-01-20", true)[0].at), true), "1980-02-01");
  assert.equal(snapper(0.1, false)(0.30000004), 0.3);
});
