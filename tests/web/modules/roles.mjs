import assert from "node:assert/strict";
import { test } from "node:test";
import { answersOf, assignRole, confirmRoles, countedAsKnown, families, filledGroups, followSecrets, mayBeKnown, reasonInWords, roleOf, undecided, withReason, withRole } from "./roles.js";

const columns = ["age", "__proto__", "id", "note"].map((name) => ({ name }));
const roles = Object.fromEntries([["age", "quasi-identifier"], ["__proto__", "quasi-identifier"], ["id", "person"], ["note", "other"]]);
const settings = { roles, decided: ["age", "id"], groups: { both: ["age", "__proto__"] } };

test("a role is given to several columns, and they are decided by that", () => {
  const { changes, kept } = assignRole(columns, settings, ["age", "note"], "sensitive");
  assert.deepEqual(withRole(columns, changes, "sensitive"), ["age", "note"]);
  assert.deepEqual(undecided(columns, changes), ["__proto__"]);
  assert.deepEqual(kept, { roles: { age: "sensitive", note: "sensitive" }, groups: { both: ["__proto__"] }, decided: ["age", "note"] });
});
test("only one column is the person: the one before is undecided again", () => {
  const { changes } = assignRole(columns, settings, ["note"], "person");
  assert.deepEqual(withRole(columns, changes, "person"), ["note"]);
  assert.equal(changes.roles.id, "other");
  assert.deepEqual(undecided(columns, changes), ["__proto__", "id"]);
  assert.equal(assignRole(columns, settings, ["age", "note"], "weight"), null);
});
test("a name such as __proto__ is a name like any other", () => {
  const { changes, kept } = assignRole(columns, settings, ["__proto__"], "sensitive");
  assert.deepEqual(withRole(columns, changes, "sensitive"), ["__proto__"]);
  assert.deepEqual(Object.entries(kept.roles), [["__proto__", "sensitive"]]);
});
test("a suggestion is confirmed once, and an empty group is not kept", () => {
  const known = columns.map((column) => ({ ...column, suggested: roles[column.name], confidence: "high" }));
  assert.deepEqual(confirmRoles(known, settings, ["note", "age"]), { changes: { decided: ["age", "id", "note"] }, kept: { decided: ["note"] } });
  assert.deepEqual(filledGroups({ a: [], b: ["age"] }), { b: ["age"] });
});
test("without a reason nothing is confirmed with the others: a person must decide", () => {
  const found = [["age", "quasi-identifier", "low"], ["orientation", "other", "low"], ["empty", "other", "high"], ["id", "person", "medium"], ["sex", "quasi-identifier", "high"]];
  const all = found.map(([name, suggested, confidence]) => ({ name, suggested, confidence })), given = Object.fromEntries(found);
  const now = { roles: { ...given, id: "other" }, decided: ["sex"] }; // another column was made the person
  assert.deepEqual(withReason(all, now), ["age", "empty"]);
  assert.deepEqual(undecided(all, now), ["age", "orientation", "empty", "id"]);
  assert.equal(confirmRoles(all, now, ["orientation", "id", "sex"]), null);
  assert.deepEqual(confirmRoles(all, now, ["orientation", "empty"]).changes.decided, ["sex", "empty"]);
  assert.deepEqual(["age", "orientation", "sex"].map((name) => reasonInWords({ ...all.find((one) => one.name === name), reason: "so" }, now)), ["Only suggested: so.", "Nothing is suggested: so.", "As you said."]);
});
test("what a column adds is told of secrets too, and of what nobody is said to know", () => {
  const now = { roles: { age: "sensitive", __proto__: null, id: "person", note: "other", gone: "drop" }, decided: ["age", "id", "note", "gone"] };
  assert.deepEqual(mayBeKnown([...columns, { name: "gone" }].filter(({ name }) => name !== "__proto__"), now), ["age", "note"]);
  assert.deepEqual(mayBeKnown([{ name: "id" }], { ...now, decided: [] }), ["id"]);
});
test("what is kept secret follows the roles unless somebody chose other columns", () => {
  const after = { age: "sensitive", note: "sensitive", id: "person" }, before = { ...after, age: "other" };
  const asked = (protection, now = after) => followSecrets(columns, { roles: before, protection }, now)?.sensitive;
  assert.deepEqual(asked({ sensitive: "note", leave_out: [] }), ["age", "note"]);
  assert.deepEqual(asked({ sensitive: ["id"], leave_out: [] }), ["id"]);
  assert.equal(asked({ sensitive: null, leave_out: [] }), null);
  assert.equal(asked({ sensitive: ["note"], l: 2, leave_out: [] }, { ...before, note: "other" }), null);
  assert.deepEqual(assignRole(columns, { ...settings, roles: { ...settings.roles, note: "sensitive" }, protection: { sensitive: ["note"], leave_out: [] } }, ["age"], "sensitive").changes.protection.sensitive, ["age", "note"]);
});
test("two questions and a role are one thing: a column may be known and sensitive", () => {
  for (const role of ["quasi-identifier", "sensitive", "both", "other"]) assert.equal(roleOf(answersOf(role)), role);
  assert.equal(answersOf("person"), null);
  const now = { roles: { a: "both", b: "sensitive", c: "quasi-identifier" }, decided: ["a", "b", "c"] }, some = ["a", "b", "c"].map((name) => ({ name }));
  assert.deepEqual([withRole(some, now, "quasi-identifier"), withRole(some, now, "sensitive")], [["a", "c"], ["a", "b"]]);
});
test("what nobody has judged counts as known, but for names and for whose record it is", () => {
  const all = ["age", "note", "name", "who", "list"].map((name) => ({ name, type: name === "list" ? "list" : "text" }));
  const now = { roles: { age: "quasi-identifier", note: "other", name: "identifier", who: "person", list: "other" }, decided: [] };
  assert.deepEqual(countedAsKnown(all, now), ["age", "note"]);
  assert.deepEqual(countedAsKnown(all, { ...now, decided: ["note"] }), ["age"]);
});
test("columns that differ in a number alone are a family, while their answers are the same", () => {
  const all = ["q1_1", "age", "q1_2", "q1_3", "q2_1"].map((name) => ({ name, type: "integer" })), now = { roles: Object.fromEntries(all.map(({ name }) => [name, "other"])), decided: [] };
  const names = (settings) => families(all, settings).map((members) => members.map(({ name }) => name));
  assert.deepEqual(names(now), [["q1_1", "q1_2", "q1_3"], ["age"], ["q2_1"]]);
  assert.deepEqual(names({ ...now, decided: ["q1_2"] }), [["q1_1"], ["age"], ["q1_2"], ["q1_3"], ["q2_1"]]);
});
