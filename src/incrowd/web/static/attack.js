// Attacks on a release: a candidate, or another table. The original is the open table.
import { showAnswersOf } from "./answers.js";
import { api, make, shorten, showProblem, table } from "./app.js";
import { isFinished, onJobChange, startJob } from "./jobs.js";
import { bench } from "./bench.js";
import { onShown } from "./places.js";
import { fillTables, uploadOnChange } from "./other-tables.js";
import { showPerson } from "./person.js";

const form = document.getElementById("attack"), view = document.getElementById("attack-view");
const field = (id) => form.querySelector(`#${id}`);
const released = field("released"), holdout = field("holdout"), columns = field("attack-columns");
let picked = null; // the candidate that the user chose

/** A candidate in the list of releases. */
export const releaseInWords = (one) => `${shorten(one.name)}${one.question_changed ? " (out of date)" : one.stale ? " (other settings)" : ""}`;

/** The candidate to attack, of those listed newest first: the one chosen before, else the newest by the current settings, else the newest that is not out of date, else none. */
export function chosenRelease(cards, chosen) {
  if (cards.some((one) => one.id === chosen)) return chosen;
  return (cards.find((one) => !one.stale) ?? cards.find((one) => !one.question_changed))?.id ?? "";
}

/** The releases to choose from: candidates first, then other tables; what the user chose stays. */
async function fillReleases() {
  const cards = await api("GET", `/tables/${table}/candidates`), other = released.selectedOptions[0]?.dataset.table ? released.value : null;
  released.replaceChildren(make("option", { value: "" }, cards.length ? "choose" : "nothing protected yet"), ...cards.map((one) => make("option", { value: one.id }, releaseInWords(one))));
  released.value = chosenRelease(cards, picked);
  await fillTables([released, holdout]);
  if ([...released.options].some(({ value }) => value === other)) released.value = other;
}

async function startAttack() {
  const kinds = [...form.querySelectorAll("[name=kind]:checked")].map((one) => one.value), some = field("attack-known").value === "columns";
  try {
    if (!released.value) throw new Error("Choose the release: a protection of this table, or a file.");
    if (!kinds.length) throw new Error("Choose an attack at least.");
    const known = some ? [...columns.selectedOptions].map((one) => one.value) : null;
    if (some && !known.length) throw new Error("Choose the columns that the attacker knows.");
    await startJob(`/tables/${table}/attacks`, {
      released: released.value, kinds, known, secret: field("attack-secret").value || null, holdout: holdout.value || null, by: field("attack-by").value || null, population: bench.settings.population,
    });
  } catch (error) { showProblem(error); }
}

export function initAttack() {
  form.addEventListener("submit", (event) => { event.preventDefault(); startAttack(); });
  field("attack-known").addEventListener("change", (event) => { columns.disabled = columns.parentElement.hidden = event.target.value !== "columns"; });
  released.addEventListener("change", () => { picked = released.value; });
  uploadOnChange(field("released-file"), [released, holdout]);
  uploadOnChange(field("holdout-file"), [holdout, released]);
  view.addEventListener("click", (event) => {
    const record = event.target.closest("button[data-record]");
    if (record) showPerson(Number(record.dataset.record));
  });
  showAnswersOf("attack", view, { again: startAttack });
  const filled = () => fillReleases().catch(showProblem);
  onJobChange(["protection", "solution"], (job) => { if (isFinished(job)) filled(); });
  onShown("attack", filled, filled);
}
