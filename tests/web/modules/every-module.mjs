import "./page.js";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const folder = new URL(".", import.meta.url), scripts = readdirSync(folder).filter((name) => name.endsWith(".js") && name !== "page.js");
const PAGES = ["curves.js", "data.js", "points.js", "workbench.js"]; // these ask the server as soon as they load, and wait
const IMPORTS = /^import \{([^}]*)\} from "\.\/([\w-]+\.js)";/gm;

test("there are modules", () => assert.ok(scripts.length > 30));
for (const name of scripts) {
  test(`${name} loads, and what it imports is there and used`, async () => {
    if (!PAGES.includes(name)) await import(`./${name}`);
    const text = readFileSync(new URL(name, folder), "utf-8");
    for (const [line, names, from] of text.matchAll(IMPORTS)) {
      const there = Object.keys(await import(`./${from}`));
      for (const one of names.split(",").map((part) => part.trim()).filter(Boolean)) {
        const [asked, called = asked] = one.split(" as ");
        assert.ok(there.includes(asked), `${from} has no ${asked}`);
        assert.ok(text.replace(line, "").match(new RegExp(`(?<![\\w$])${called.replace("$", "\\$")}(?![\\w$])`)), `${called} is imported and not used`);
      }
    }
  });
}
