import assert from "node:assert/strict";
import { test } from "node:test";
import { readSecretValues } from "./secret-values.js";

test("lines that name a column and a value are taken, empty ones left out", () => {
  assert.deepEqual(readSecretValues(" illness=HIV,AIDS\n\npay>100000\na=b=c", ["illness", "pay", "a=b"]), ["illness=HIV,AIDS", "pay>100000", "a=b=c"]);
  assert.deepEqual(readSecretValues("", ["illness"]), []);
});
test("a line that is wrong is named by its number", () => {
  assert.throws(() => readSecretValues("illness=HIV\nabc", ["illness"]), /^Error: Line 2: write a column, a sign and a value/);
  assert.throws(() => readSecretValues("faith=none", ["illness"]), /^Error: Line 1: there is no column “faith”/);
});
