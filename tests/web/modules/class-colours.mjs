import assert from "node:assert/strict";
import { test } from "node:test";
import { colourByLimit } from "./class-colours.js";

const chart = () => ({
  data: { values: [["1", 1], ["2", 2], ["3–4", 3], ["5–9", 5], ["10–19", 10], ["50+", 50]].map(([size, low]) => ({ size, low, crowd: "by five" })) },
  encoding: { color: { scale: { domain: ["nobody else", "fewer than 5", "5 or more"], range: ["red", "orange", "blue"] } } },
});

test("classes are coloured by the limit, as the crowd colours them", () => {
  const made = chart();
  colourByLimit(made, 11);
  assert.deepEqual(made.data.values.map(({ crowd }) => crowd), ["nobody else", "fewer than 11", "fewer than 11", "fewer than 11", "partly fewer", "11 or more"]);
  assert.deepEqual(made.encoding.color.scale, { domain: ["nobody else", "fewer than 11", "partly fewer", "11 or more"], range: ["red", "orange", "orange", "blue"] });
});
test("the legend names only what is there, and a chart that is not there is left alone", () => {
  const made = chart();
  colourByLimit(made, 3);
  assert.deepEqual(made.encoding.color.scale, { domain: ["nobody else", "fewer than 3", "3 or more"], range: ["red", "orange", "blue"] });
  assert.equal(colourByLimit(undefined, 11), undefined);
});
