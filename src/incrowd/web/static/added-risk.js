// What columns add to what others know: asked a few at a time, once they are looked at, and again when the roles have changed.
import { bench, known, on, person } from "./bench.js";
import { api, problem, table } from "./app.js";
import { mayBeKnown } from "./roles.js";

const AT_ONCE = 12;
export const adds = new Map(); // by the name of a column
let asked = 0;

/** Ask about every column that others may come to know, in small batches; what is no longer asked for is left out. */
async function ask() {
  const mine = ++asked;
  adds.clear();
  const open = mayBeKnown(bench.columns, bench.now);
  for (let place = 0; place < open.length; place += AT_ONCE) {
    const found = await api("POST", `/tables/${table}/columns/adds`, { columns: open.slice(place, place + AT_ONCE), quasi_identifiers: known(), person: person() });
    if (mine !== asked) return;
    for (const one of found.columns) adds.set(one.column, one);
    document.dispatchEvent(new CustomEvent("adds"));
  }
}
on("counted", () => { if (!bench.counting && bench.counted) ask().catch(problem); });
