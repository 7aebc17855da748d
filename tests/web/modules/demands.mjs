import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDemands, checkField, fieldInWords, isGiven, readDemands, readField, writePairs } from "./demands.js";

test("demands on secrets are read as they are saved, also without a method that keeps them", () => {
  assert.deepEqual(readDemands({ secrets: [], l: "", t: "" }), { sensitive: null, l: null, t: null });
  assert.deepEqual(readDemands({ secrets: ["pay"], l: "2", t: "Bound" }), { sensitive: "pay", l: 2, t: "bound" });
  assert.deepEqual(readDemands({ secrets: ["pay", "faith"], l: "1,5", t: "0.2" }), { sensitive: ["pay", "faith"], l: 1.5, t: 0.2 });
});
test("a demand about no column, or out of range, says what to do", () => {
  assert.throws(() => readDemands({ secrets: [], l: "2", t: "" }), /Choose the column that l = 2 is about/);
  assert.throws(() => readDemands({ secrets: ["pay"], l: "", t: "2" }), /above 0 and at most 1/);
  assert.throws(() => readDemands({ secrets: ["pay"], l: "1e99", t: "" }), /from 1 to 1,000,000/);
});
test("a method that cannot keep a demand is told in the words of the form, with those that can", () => {
  const others = [{ label: "Partition", inputs: ["k", "l", "t", "importance"] }, { label: "Fewest cells blanked", inputs: ["k", "l", "importance"] }], ranges = { label: "Same ranges for everybody", inputs: ["resolution"] };
  const none = { l: null, t: null };
  checkDemands({ l: 2, t: 0.2 }, ["age"], others[0], others);
  checkDemands(none, [], ranges, others);
  assert.throws(() => checkDemands({ ...none, l: 2 }, [], ranges, others), /“Same ranges for everybody” makes no promise of l = 2.*Partition, Fewest cells blanked/);
  assert.throws(() => checkDemands({ ...none, t: 0.2 }, [], others[1], others), /“Fewest cells blanked” makes no promise of t = 0.2.*\(Partition\)/);
  assert.throws(() => checkDemands(none, ["age"], ranges, others), /heeds no importance of columns \(age\).*Partition, Fewest cells blanked/);
});

const BETA = { name: "beta", kind: "number", above: 0, highest: 1e6 }, C = { name: "c", kind: "number", default: 3, above: 0, highest: 1e6 }, SHARE = { name: "suppress", kind: "share", default: 0 };
const WHOLE = { name: "subsets", kind: "whole", lowest: 1 }, WIDEST = { name: "widest", kind: "numbers", lowest: 0, highest: 1e12 }, KEEP = { name: "keep", kind: "columns" }, WILDCARDS = { name: "wildcards", kind: "switch", default: false };
const KNOWN = ["age", "town", "income, net", 'a="b"', "line\nfeed", "__proto__"];

test("a field is read by the kind of its option; an empty one is the default of the request", () => {
  assert.deepEqual([readField(BETA, "0,5"), readField(BETA, "1/4"), readField(BETA, " "), readField(C, ""), readField(C, "4")], [0.5, 0.25, null, 3, 4]);
  assert.deepEqual([readField(SHARE, "5 %"), readField(SHARE, ""), readField(WHOLE, "2"), readField(WHOLE, "")], [0.05, null, 2, null]);
  assert.deepEqual([readField({ name: "aim", kind: "text" }, "granularity"), readField({ name: "aim", kind: "text" }, "")], ["granularity", null]);
  assert.deepEqual([readField(KEEP, ["age"]), readField(KEEP, []), readField(WILDCARDS, true), readField(WILDCARDS, false)], [["age"], [], true, false]);
});
test("a number out of range says what the range is", () => {
  assert.throws(() => readField(BETA, "0"), /a number above 0 and at most 1,000,000\./);
  assert.throws(() => readField(BETA, "2e6"), /at most 1,000,000/);
  assert.throws(() => readField(SHARE, "1"), /a number of 0 or more and below 1\./);
  assert.throws(() => readField(WHOLE, "1.5"), /a whole number of 1 or more\./);
  assert.throws(() => readField(WHOLE, "0"), /a whole number of 1 or more\./);
  assert.throws(() => readField({ name: "seed", kind: "whole" }, "-1"), /a whole number of 0 or more\./);
  assert.throws(() => readField(BETA, "half"), /not a number/);
});
test("columns with numbers are read as they are written, whatever their names", () => {
  const widths = Object.fromEntries(KNOWN.map((name, place) => [name, place + 0.5]));
  assert.deepEqual(readField(WIDEST, writePairs(widths), KNOWN), widths);
  assert.equal(Object.keys(readField(WIDEST, writePairs(widths), KNOWN)).length, 6);
  assert.equal(writePairs({ age: 10, town: 3 }), "age=10, town=3");
  assert.deepEqual(readField(WIDEST, " age = 10 ; town=3, ", KNOWN), { age: 10, town: 3 });
  assert.deepEqual(readField(WIDEST, "", KNOWN), {});
  assert.throws(() => readField(WIDEST, "age", KNOWN), /such as age=10, town=3/);
  assert.throws(() => readField(WIDEST, "age=2,5", KNOWN), /such as age=10, town=3/); // not 2 and something
  assert.throws(() => readField(WIDEST, "pay=2", KNOWN), /“pay” is not a column that others know.*age, town/s);
  assert.throws(() => readField(WIDEST, "age=2, age=3", KNOWN), /“age” has two numbers/);
  assert.throws(() => readField(WIDEST, "age=-1", KNOWN), /a number of 0 or more and at most/);
});
test("a field is refused where the method does not take it, or where it says nothing", () => {
  const others = [{ label: "Partition", inputs: ["beta", "c", "diversity", "diverse"] }, { label: "Fewest cells blanked", inputs: ["wildcards", "subsets"] }], [partition, blank] = others;
  const check = (field, asked, method) => checkField(field, { sensitive: null, l: null, ...asked }, method, others);
  check(BETA, { beta: null }, blank); // not asked for
  check(WILDCARDS, { wildcards: false }, partition);
  check(C, { c: 3 }, blank);
  check(BETA, { beta: 2, sensitive: "pay" }, partition);
  assert.throws(() => check(BETA, { beta: 2, sensitive: "pay" }, blank), /“Fewest cells blanked” does not take this. Choose a method that does \(Partition\)/);
  assert.throws(() => check(BETA, { beta: 2 }, partition), /without a column under “Keep secret”/);
  assert.throws(() => check(C, { c: 4, diversity: "entropy" }, partition), /without the diversity “recursive”/);
  check(C, { c: 4, diversity: "recursive" }, partition);
  const diversity = { name: "diversity", kind: "text", default: "distinct" }, diverse = { name: "diverse", kind: "columns" };
  check(diversity, { diversity: "distinct" }, partition);
  assert.throws(() => check(diversity, { diversity: "entropy" }, partition), /without a number of different values/);
  check(diverse, { diverse: ["pay"], sensitive: ["pay", "faith"] }, partition);
  assert.throws(() => check(diverse, { diverse: ["pay"], sensitive: "faith" }, partition), /without these columns/);
  assert.throws(() => check(WHOLE, { subsets: 2, wildcards: false }, blank), /without wildcards/);
  check(WHOLE, { subsets: 2, wildcards: true }, blank);
});
test("what is asked for is told on a card, and what is not asked for is not", () => {
  assert.deepEqual([isGiven(SHARE, 0), isGiven(SHARE, 0.1), isGiven(KEEP, []), isGiven(KEEP, ["a"]), isGiven(WIDEST, {}), isGiven(BETA, undefined), isGiven(WILDCARDS, true)], [false, true, false, true, false, false, true]);
  assert.deepEqual([fieldInWords(BETA, 0.5), fieldInWords(KEEP, ["age", "sex"]), fieldInWords(WIDEST, { age: 10 }), fieldInWords(WILDCARDS, true)], ["beta = 0.5", "keep: age, sex", "widest: age=10", "wildcards"]);
});
