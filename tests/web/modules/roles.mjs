import assert from "node:assert/strict";
import { test } from "node:test";
import { assignRole, confirmRoles, filledGroups, undecided, withRole } from "./roles.js";

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
  assert.deepEqual(confirmRoles(settings, ["note", "age"]).changes.decided, ["age", "id", "note"]);
  assert.deepEqual(filledGroups({ a: [], b: ["age"] }), { b: ["age"] });
});
