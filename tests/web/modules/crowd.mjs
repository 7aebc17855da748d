import "./page.js";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";

writeFileSync(new URL("person.js", import.meta.url), "export const showPerson = () => {};"); // in a copy: only the crowd is looked at

const frames = new Map(), page = document, drawn = [];
let lastFrame = 0, people = 3;
const ink = { clearRect: () => { drawn.length = 0; }, drawImage: (...made) => drawn.push(made), arc: () => {}, fill: () => {} };
const canvas = { clientWidth: 200, clientHeight: 200, width: 200, isConnected: true, dataset: {}, parentElement: { classList: { toggle: () => {} } }, getContext: () => ink, addEventListener: () => {}, setAttribute: () => {} };
/** The crowd of people who are all alone: by k = 1 a mark each. */
const crowdOf = (many) => ({ people: many, records: many, classes: many, sizes: [1], counts: [many], limits: { class_size: 5 }, sentence: "", marks: { size: Array(many).fill(1), people: Array(many).fill(1), each: "person" } });
Object.assign(globalThis, {
  document: new Proxy(page, { get: (of, name) => (name === "getElementById" ? (id) => (id === "crowd" ? canvas : page.getElementById(id)) : page[name]) }),
  matchMedia: () => ({ matches: false, addEventListener: () => {} }),
  getComputedStyle: () => ({ getPropertyValue: () => "#123456" }),
  devicePixelRatio: 1,
  requestAnimationFrame: (action) => { lastFrame += 1; frames.set(lastFrame, action); return lastFrame; },
  cancelAnimationFrame: (frame) => frames.delete(frame),
  OffscreenCanvas: class { constructor(width) { if (!Number.isInteger(width)) throw new TypeError(`no size: ${width}`); this.width = this.height = width; } getContext() { return ink; } },
  fetch: async (path) => {
    const answers = { crowd: crowdOf(people), columns: { columns: [], reading: {}, takes_null: true }, settings: { settings: { roles: {}, decided: [], groups: {}, protection: {}, recipient: "public" } } };
    const made = answers[path.split("/").at(-1)] ?? (path.endsWith("/jobs") ? [] : { columns: [], conditions: [] });
    return { ok: true, status: 200, json: async () => made, text: async () => JSON.stringify(made) };
  },
});
const { bench, reloadTable } = await import("./bench.js");
bench.limits = { public: { highest: 0.1, average: 0.1 } };
const { dotInWords } = await import("./crowd.js");

test("another number of marks is drawn at once, and nothing that was moving goes on with them", async () => {
  await reloadTable();
  assert.equal(drawn.length, 3);
  await reloadTable(); // as many marks: they move
  assert.equal(frames.size, 1);
  people = 5;
  await reloadTable();
  for (const action of [...frames.values()]) action(performance.now() + 100);
  assert.equal(drawn.length, 5);
  assert.equal(frames.size, 0);
  await reloadTable(); // they move again
  assert.equal(frames.size, 1);
});
test("a dot says whom it stands for", () => {
  assert.deepEqual([dotInWords(1, 1), dotInWords(2, 1), dotInWords(1, 4), dotInWords(9, 9)], ["looks like nobody else", "looks like 1 other", "4 people, each looks like nobody else", "9 people, each looks like 8 others"]);
});
