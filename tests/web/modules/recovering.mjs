import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { handleButtons, saveFile } = await import("./candidates.js");

test("the button that searches can be pressed again where the search did not start", async () => {
  let press = null;
  handleButtons({ addEventListener: (_, action) => { press = action; } }, () => assert.fail("nothing is protected"));
  let told = 0;
  const button = { disabled: false, matches: (kind) => kind === ".solve", parentElement: { querySelector: () => null }, after: () => { told += 1; } };
  await press({ target: { closest: () => button } }); // every field of this page is wrong, so nothing starts
  assert.deepEqual([button.disabled, told], [false, 1]); // the reason stands beside it
});
test("a download that is refused throws the reason", async () => {
  const answers = [{ ok: false, status: 400, json: async () => ({ error: "it cannot be written" }) }, { ok: false, status: 502, json: async () => JSON.parse("<html>") }];
  globalThis.fetch = async () => answers.shift();
  await assert.rejects(saveFile("/table"), { message: "It cannot be written." });
  await assert.rejects(saveFile("/table"), { message: "The app answered with status 502." });
});
