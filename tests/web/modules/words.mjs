import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { count, percent, requestCounter, sentence, shorten } = await import("./app.js");
const { isFinished } = await import("./jobs.js");
const { basisInWords, savedInWords } = await import("./conditions.js");
const { protectionInWords } = await import("./candidates.js");
const { chosenRelease, releaseInWords } = await import("./attack.js");
const { formatNumber } = await import("./comparison.js");
const { releasedInWords } = await import("./example-record.js");
const { cellInWords } = await import("./tour.js");
const { newestJob, stageInWords } = await import("./answers.js");

test("numbers are written as the report writes them", () => {
  assert.deepEqual([count(1234567), count(2.6)], ["1,234,567", "3"]);
  assert.deepEqual([0, 1, 0.5].map(percent), ["0%", "100%", "50.0%"]);
  assert.equal(percent(1e-12), "below 0.0000001%"); // a small risk is never none
  assert.equal(percent(0.99999), "over 99.99%"); // nor is a large one certain
});
test("a long text is shortened, and says so", () => {
  assert.equal(shorten("abc", 10), "abc");
  assert.equal([...shorten("a".repeat(99), 10)].length <= 10, true);
  assert.match(shorten("a".repeat(99), 10), /…$/);
  assert.match(sentence("it is so"), /^It is so\.$/);
  assert.equal(sentence("l must be 1 or more"), "l must be 1 or more."); // a symbol keeps its case
});
test("only the newest question is answered", () => {
  const asked = requestCounter(), first = asked(), second = asked();
  assert.deepEqual([first(), second()], [false, true]);
});
test("work is over when it is done, failed or cancelled", () => {
  assert.deepEqual(["waiting", "running", "done", "failed", "cancelled"].map((state) => isFinished({ state })), [false, false, true, true, true]);
});
test("work that runs says what it does and how far it is", () => {
  assert.equal(stageInWords({ stage: "", state: "waiting", progress: null }), "Waiting for other work…");
  assert.equal(stageInWords({ stage: "counting classes", state: "running", progress: 0.429 }), "Counting classes… 42% done");
});
test("the newest job of a kind is found, of this table alone", () => {
  const job = (id, kind, created, table = "0123456789abcdef") => ({ id, kind, created, table });
  const jobs = [job("a", "leak", "1"), job("b", "leak", "3"), job("c", "leak", "4", "another"), job("d", "protection", "5")];
  assert.equal(newestJob("leak", jobs).id, "b");
  assert.equal(newestJob(["leak", "protection"], jobs).id, "d");
  assert.equal(newestJob("forecast", jobs), undefined);
});
test("a risk says whose it is, and detail says of what", () => {
  assert.deepEqual(["table", "population", "attacks", undefined].map(basisInWords), ["in the table", "in the population", "by attacks", "in the table"]);
  assert.equal(savedInWords({ headline: "No", highest: 0.5, detail: 1 }), "No; 50.0% at most · 100% detail kept");
});
test("a card says what made it", () => {
  const protection = { method: "partition", k: 11, l: 2, t: null, sensitive: ["income", "illness", "faith"], leave_out: ["note"], hierarchies: {}, importance: {} };
  assert.equal(protectionInWords({ protection }), "partition, k = 11, 3 columns kept secret, note left out, l = 2");
  assert.equal(protectionInWords({ protection, columns_left_out: ["illness", "note"] }), "partition, k = 11, income and faith kept secret, illness and note left out, l = 2");
  assert.equal(protectionInWords({ protection: { ...protection, sensitive: null, leave_out: [], l: null, method: "coarsen", resolution: 8 } }), "coarsen, 8 parts");
  assert.equal(protectionInWords({ protection: { ...protection, sensitive: null, leave_out: [], l: null, method: "perturb", steps: [{ column: "age+pay", action: "noise=0.2" }, { column: "sex", action: "pram=0.8" }] } }), "perturb, age+pay: noise 0.2; sex: pram 0.8"); // no class is promised
  assert.equal(protectionInWords({ protection: { ...protection, sensitive: null, leave_out: [], l: null, method: "perturb", hierarchies: { age: "cuts:18" } } }), "perturb"); // it uses no hierarchy
});
test("the neighbour of the tour is told in words, not in codes", () => {
  assert.deepEqual([["age_yrs", "44"], ["sex", "2"], ["race", "1"], ["patzip", "90012"], ["sex", "4"]].map(([name, cell]) => cellInWords(name, cell)), ["44 years old", "a woman", "White", "lives in ZIP code 90012", "sex of code 4"]);
});
test("a cell that was left out is no empty cell", () => {
  assert.deepEqual([null, "", "[40;44]"].map(releasedInWords), ["left out", "(empty)", "[40;44]"]);
});
test("numbers of two candidates are people, shares, or plain", () => {
  assert.deepEqual([formatNumber("smallest class", 1200), formatNumber("information loss", 0.33561), formatNumber("detail kept", 0.5), formatNumber("highest risk", null)], ["1,200", "0.336", "50.0%", "–"]);
});
test("the newest candidate that is not out of date is attacked, unless another was chosen", () => {
  const cards = [["d", true, true], ["c", true, false], ["b", false, false], ["a", false, false]].map(([id, stale, changed]) => ({ id, name: id, stale, question_changed: changed }));
  assert.deepEqual(cards.map(releaseInWords), ["d (out of date)", "c (other settings)", "b", "a"]);
  assert.equal(chosenRelease(cards, null), "b");
  assert.equal(chosenRelease(cards, "d"), "d"); // it is marked in the list
  assert.equal(chosenRelease(cards, "gone"), "b");
  assert.equal(chosenRelease(cards.slice(0, 2), null), "c");
  assert.equal(chosenRelease(cards.slice(0, 1), null), "");
});
