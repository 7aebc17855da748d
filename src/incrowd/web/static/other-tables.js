// Other tables of this browser in a list to choose from, and a file that becomes one of them.
import { api, make, noProblem, problem, say, sentence, short, table } from "./app.js";

/** Fill lists with the other tables; what stood there before stays in front, and the choice is kept. */
export async function fillTables(lists) {
  const others = (await api("GET", "/tables")).filter((one) => one.id !== table);
  for (const list of lists) {
    const chosen = list.value;
    for (const one of [...list.options]) if (one.dataset.table || others.some(({ id }) => id === one.value)) one.remove();
    list.append(...others.map((one) => make("option", { value: one.id, "data-table": "yes" }, short(one.name))));
    if ([...list.options].some((one) => one.value === chosen)) list.value = chosen;
  }
}

/** Send the file of an input: it becomes a table, and is chosen in the first of the lists. */
export function sendFile(input, lists) {
  input.addEventListener("change", async () => {
    if (!input.files.length) return;
    noProblem();
    const sent = new FormData();
    sent.append("file", input.files[0]);
    try {
      const answer = await fetch("/api/v1/tables", { method: "POST", body: sent, credentials: "same-origin" }), made = await answer.json();
      if (!answer.ok) throw new Error(sentence(made.error || "the file was not taken"));
      await fillTables(lists);
      lists[0].value = made.id;
      say(`${input.files[0].name} was read.`);
    } catch (error) { problem(error); }
  });
}
