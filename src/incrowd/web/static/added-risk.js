// Who stands out by each column, requested in small batches after every count of the classes.
import { bench, countedColumns, onChange, personColumn } from "./bench.js";
import { api, requestCounter, showProblem, table } from "./app.js";
import { mayBeKnown } from "./roles.js";

const BATCH = 12; // columns
export const addedRisk = new Map(); // by the name of a column
const countRequest = requestCounter();

/** Request the added risk of every column that others may know; responses to an older request are dropped. */
async function requestAddedRisk() {
  const isNewest = countRequest();
  addedRisk.clear();
  const open = mayBeKnown(bench.columns, bench.settings);
  for (let place = 0; place < open.length; place += BATCH) {
    const found = await api("POST", `/tables/${table}/columns/adds`, { columns: open.slice(place, place + BATCH), quasi_identifiers: countedColumns(), person: personColumn() });
    if (!isNewest()) return;
    for (const one of found.columns) addedRisk.set(one.column, one);
    document.dispatchEvent(new CustomEvent("added-risk"));
  }
}
onChange("counted", () => { if (!bench.isCounting && bench.counts) requestAddedRisk().catch(showProblem); });
