// One record of a candidate before and after protection, masked until the user shows the values.
import { api, count, labelValues, requestCounter, showProblem } from "./app.js";

const countRequest = requestCounter();
/** A cell of a release in words; a column that was removed has none. */
export const releasedInWords = (cell) => (cell === null ? "left out" : cell || "(empty)");

/** Fill the table of a shown candidate with its first record; its buttons take the next one, and show or hide the values. */
export function fillExample(view) {
  const place = view.querySelector(".example"), job = view.dataset.job;
  if (!place) return;
  let start = 0, show = false;
  const words = place.querySelector(".example-words"), shown = place.querySelector(".show-record");
  const draw = async () => {
    const isNewest = countRequest(), found = await api("POST", `/jobs/${job}/rows`, { start, rows: 1, show }), [row] = found.rows;
    if (!isNewest()) return;
    words.textContent = row ? `Record ${count(row.record + 1)} of the original. ${show ? "Values are those of a real person." : "Values are hidden."}` : "No record is left.";
    if (!row) return;
    for (const line of place.querySelectorAll("tr[data-column]")) {
      const index = found.columns.indexOf(line.dataset.column);
      line.querySelector(".was").textContent = row.before[index];
      line.querySelector(".now").textContent = releasedInWords(row.after[index]);
      line.classList.toggle("changed", row.changed[index]);
    }
    place.querySelector(".other-record").onclick = () => { start = (start + 1) % found.total; draw().catch(showProblem); };
  };
  shown.onclick = () => { show = !show; labelValues(shown, show); draw().catch(showProblem); };
  draw().catch((error) => { words.textContent = error.message; });
}
