// Attacks on a release: a candidate of the shelf, or another table. The original is the open table.
import { answersOf } from "./answers.js";
import { api, make, over, problem, short, start, table, watch } from "./app.js";
import { bench } from "./bench.js";
import { lens, look } from "./lenses.js";
import { fillTables, sendFile } from "./other-tables.js";
import { showPerson } from "./person.js";

const form = document.getElementById("attack"), view = document.getElementById("attack-view");
const part = (id) => form.querySelector(`#${id}`);
const released = part("released"), holdout = part("holdout"), columns = part("attack-columns");

/** The releases to choose from: candidates first, then other tables. */
async function fill() {
  const cards = await api("GET", `/tables/${table}/candidates`), chosen = released.value;
  released.replaceChildren(make("option", { value: "" }, cards.length ? "choose" : "nothing protected yet"), ...cards.map((one) => make("option", { value: one.id }, short(one.name))));
  released.value = cards.some((one) => one.id === chosen) ? chosen : cards[0]?.id ?? "";
  await fillTables([released, holdout]);
}

async function ask() {
  const kinds = [...form.querySelectorAll("[name=kind]:checked")].map((one) => one.value), some = part("attack-known").value === "columns";
  try {
    if (!released.value) throw new Error("Choose the release: a protection of this table, or a file.");
    if (!kinds.length) throw new Error("Choose an attack at least.");
    const known = some ? [...columns.selectedOptions].map((one) => one.value) : null;
    if (some && !known.length) throw new Error("Choose the columns that the attacker knows.");
    await start(`/tables/${table}/attacks`, {
      released: released.value, kinds, known, secret: part("attack-secret").value || null, holdout: holdout.value || null, by: part("attack-by").value || null, population: bench.now.population,
    });
  } catch (error) { problem(error); }
}

export function begin() {
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  part("attack-known").addEventListener("change", (event) => { columns.disabled = columns.parentElement.hidden = event.target.value !== "columns"; });
  sendFile(part("released-file"), [released, holdout]);
  sendFile(part("holdout-file"), [holdout, released]);
  view.addEventListener("click", (event) => {
    const record = event.target.closest("button[data-record]");
    if (record) { look("crowd"); showPerson(Number(record.dataset.record)); }
  });
  answersOf("attack", view, { again: ask });
  watch((job) => ["protection", "solution"].includes(job.kind) && job.table === table && over(job), () => fill().catch(problem));
  const filled = () => fill().catch(problem);
  lens("attack", filled, filled);
}
