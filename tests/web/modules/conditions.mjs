import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { splitSentence } = await import("./conditions.js");

test("the beginning and the end of every sentence are visible, and nothing of a long one is lost", () => {
  assert.deepEqual(splitSentence("Careful: age names people."), ["Careful: age names people.", "", ""]);
  const long = Array.from({ length: 99 }, (_, number) => `column${number}`).join(", "), parts = splitSentence(long);
  assert.equal(parts.join(""), long);
  assert.ok(parts[0].length > 150 && parts[0].length < 320);
  assert.equal(parts[2], "");
  const found = ": an attacker who knows them finds 200 people alone", [start, folded, end] = splitSentence(long + found);
  assert.deepEqual([start, start + folded, end], [parts[0], long, found]);
});
