import "./page.js";
import assert from "node:assert/strict";
import { test } from "node:test";

const { handleButtons } = await import("./candidates.js");
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
