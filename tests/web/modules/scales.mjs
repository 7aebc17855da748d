import assert from "node:assert/strict";
import { test } from "node:test";
import { SCALES, sharedScale } from "./scales.js";

const stated = (...scales) => scales.map((scale) => ({ scale_stated: scale }));

test("columns share what was stated of all of them", () => {
  assert.equal(sharedScale(stated("nominal", "nominal")), "nominal");
  assert.equal(sharedScale(stated(null, null)), "");
  assert.equal(sharedScale(stated(null, "date")), "mixed");
});
test("levels of an ordered column are told apart from a scale", () => {
  assert.equal(sharedScale(stated("low<high")), "<low<high");
  assert.ok(!("<low<high" in SCALES));
});
