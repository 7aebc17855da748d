import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { handleButtons, saveFile } = await import("./candidates.js");
const { lowerCharts } = await import("./verdict.js");

test("the button that searches can be pressed again where the search did not start", async () => {
  let press = null;
  handleButtons({ addEventListener: (_, action) => { press = action; } }, () => assert.fail("nothing is protected"));
  let told = 0;
  const button = { disabled: false, matches: (kind) => kind === ".solve", parentElement: { querySelector: () => null }, after: () => { told += 1; } };
  await press({ target: { closest: () => button } }); // every field of this page is wrong, so nothing starts
  assert.deepEqual([button.disabled, told], [false, 1]); // the reason stands beside it
});
test("charts are drawn where that of the class sizes is not there", () => {
  for (const sizes of [{}, { "class-sizes": { layer: [{ encoding: { color: {} } }] } }]) {
    const block = { textContent: JSON.stringify({ ...sizes, drivers: { data: { values: Array(sizes["class-sizes"] ? 25 : 2) } } }) };
    lowerCharts({ querySelector: () => block });
    const made = JSON.parse(block.textContent);
    assert.equal(made.drivers.height, sizes["class-sizes"] ? 350 : 150); // 25 names have room
    assert.equal(made["class-sizes"]?.layer[0].encoding.color.legend.columns, sizes["class-sizes"] && 2);
  }
});
test("a download that is refused throws the reason", async () => {
  const answers = [{ ok: false, status: 400, json: async () => ({ error: "it cannot be written" }) }, { ok: false, status: 502, json: async () => JSON.parse("<html>") }];
  globalThis.fetch = async () => answers.shift();
  await assert.rejects(saveFile("/table"), { message: "It cannot be written." });
  await assert.rejects(saveFile("/table"), { message: "The app answered with status 502." });
});
