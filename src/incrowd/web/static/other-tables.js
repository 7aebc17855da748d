// Lists of the session's other tables, and the upload of a file as another table.
import { announce, api, clearProblem, make, sentence, shorten, showProblem, table } from "./app.js";

/** Fill lists with the other tables; other options stay in front of them, and the choice stays. */
export async function fillTables(lists) {
  const others = (await api("GET", "/tables")).filter((one) => one.id !== table);
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
      announce(`${input.files[0].name} was read.`);
    } catch (error) { showProblem(error); }
  });
}
