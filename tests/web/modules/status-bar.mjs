import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { drawAfter, drawAssessed } = await import("./status-bar.js");
const parts = {}, part = (name) => (parts[name] ??= { textContent: "" });
const element = (id) => ({ dataset: {}, toggleAttribute: () => {}, querySelector: (selector) => part(`${id} ${selector}`) });
globalThis.document = { getElementById: element };

const risk = { highest: 0.25, basis: "population", decision: "over", conditions: [] };
const candidate = { stale: false, question_changed: false, decision: "over", conditions: [], highest: 0.5, highest_basis: "table", highest_before: 1, population_unused: null, name: "one", detail: 0.5, detail_words: "", perturbed: [], after: { k: 2 } };

test("beside a candidate that is judged by classes, the risk before is that of classes", () => {
  drawAssessed({ state: "done", stale: false }, risk);
  drawAfter(candidate);
  assert.equal(part("tile-risk strong").textContent, "100%");
  assert.match(part("tile-risk small").textContent, /^in the table, as after; 25\.0% in the population/);
});
test("beside a candidate without a risk before, the risk is that of the verdict", () => {
  drawAssessed({ state: "done", stale: false }, risk);
  drawAfter({ ...candidate, highest_before: null, perturbed: ["age"] }); // classes show nothing of values that changed by chance
  assert.equal(part("tile-risk strong").textContent, "25.0%");
  assert.match(part("tile-risk small").textContent, /^in the population/);
});
