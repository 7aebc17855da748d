import assert from "node:assert/strict";
import { test } from "node:test";
import { assignRole, confirmRoles, countedBy, filledGroups, followSecrets, mayBeKnown, reasonInWords, roleInWords, undecided, withReason, withRole } from "./roles.js";

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
  assert.deepEqual(all.map((one) => roleInWords(one, now)), [["known", ", only suggested"], ["decide", ", nothing is suggested"], ["neither", ", only suggested"], ["decide", ", nothing is suggested"], ["known"]]);
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
test("a count says by how many columns it is made until all are decided", () => {
  assert.equal(countedBy(columns, settings), "by 2 of 4 columns; 2 not decided"); // as many as the verdict says
  assert.equal(countedBy(columns, settings, { short: true }), "by 2 of 4; 2 undecided");
  assert.equal(countedBy(columns, { ...settings, decided: columns.map(({ name }) => name) }), "");
});
