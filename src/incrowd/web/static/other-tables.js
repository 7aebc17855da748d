// Lists of the session's other tables, and the upload of a file as another table.
import { announce, api, clearProblem, make, sentence, shorten, showProblem, table } from "./app.js";

/** True if a table has a column of the same name as this one: others are no release of it, and no people like its people. */
const isRelated = (other, mine) => other.columns.some(({ name }) => mine.includes(name));

/** Fill lists with the other tables that share a column with this one; other options stay in front of them, and the choice stays. */
export async function fillTables(lists) {
  const all = await api("GET", "/tables"), mine = all.find((one) => one.id === table).columns.map(({ name }) => name), others = all.filter((one) => one.id !== table && isRelated(one, mine));
  for (const list of lists) {
    const chosen = list.value;
    for (const one of [...list.options]) if (one.dataset.table || others.some(({ id }) => id === one.value)) one.remove();
    list.append(...others.map((one) => make("option", { value: one.id, "data-table": "yes" }, shorten(one.name))));
    if ([...list.options].some((one) => one.value === chosen)) list.value = chosen;
  }
}

/** Upload the file of an input when it is chosen; the new table is chosen in the first of the lists. */
export function uploadOnChange(input, lists) {
  input.addEventListener("change", async () => {
    if (!input.files.length) return;
    clearProblem();
    const sent = new FormData();
    sent.append("file", input.files[0]);
    try {
      const answer = await fetch("/api/v1/tables", { method: "POST", body: sent, credentials: "same-origin" }), made = await answer.json();
      if (!answer.ok) throw new Error(sentence(made.error || "the file was not taken"));
      await fillTables(lists);
      lists[0].value = made.id;
      if (lists[0].value !== made.id) throw new Error(`${input.files[0].name} has no column of this table. It is among the tables of the first page.`);
      announce(`${input.files[0].name} was read.`);
    } catch (error) { showProblem(error); }
  });
}
