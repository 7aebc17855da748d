import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const moves = [], page = document, parts = {
  todo: { parentElement: null },
  original: {
    open: true, toggleAttribute: () => {},
    append: (one) => { one.parentElement = parts.original; moves.push("into the fold"); },
    after: (one) => { one.parentElement = null; moves.push("below the fold"); },
  },
};
globalThis.document = new Proxy(page, { get: (_, name) => (name === "getElementById" ? (id) => parts[id] ?? page.getElementById(id) : page[name]) });
const { drawLeading } = await import("./leading-verdict.js");

test("what to do is moved only if its place changes: a moved button loses the focus", () => {
  const candidate = (decision) => ({ id: "a", name: "one", headline: "", sentence: "", reason: null, conditions: [], question_changed: false, decision });
  for (const one of [null, null, candidate("over"), candidate("within"), candidate("within"), candidate("over"), null]) drawLeading(one);
  assert.deepEqual(moves, ["into the fold", "below the fold"]);
});
