// Curves of a technique, techniques side by side, k^m-anonymity and masked files: one question at a time, answered below.
import { answersOf } from "./answers.js";
import { problem, start, table } from "./app.js";
import { curveQuestion } from "./curve-questions.js";
import { lens } from "./lenses.js";
import { fillTables, sendFile } from "./other-tables.js";

const form = document.getElementById("curves"), kind = document.getElementById("curve-kind"), view = document.getElementById("curves-view");
const value = (id) => form.querySelector(`#${id}`).value;

function fields() {
  for (const part of form.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(kind.value);
}

async function ask() {
  try {
    const [address, question] = curveQuestion(kind.value, {
      compare: form.querySelector("#curve-compare").checked, known: Number(value("curve-known")), person: value("curve-person"), item: value("curve-item"), second: value("curve-second"), time: value("curve-time"), amount: value("curve-amount"), k: Number(value("curve-k")), ranks: value("curve-ranks"),
      group: value("curve-group"), confidence: value("curve-confidence"), pasted: value("pasted-ranks"), gallery: value("curve-gallery"), counts: value("curve-counts"), techniques: value("pasted-techniques"),
    });
    await start(`/tables/${table}/${address}`, question);
  } catch (error) { problem(error); }
}

export function begin() {
  const gallery = form.querySelector("#curve-gallery"), counts = form.querySelector("#curve-counts"), lists = [gallery, counts];
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  kind.addEventListener("change", fields);
  sendFile(form.querySelector("#gallery-file"), lists);
  sendFile(form.querySelector("#counts-file"), [counts, gallery]);
  fields();
  answersOf(["curve", "check", "itemsets", "sets", "masked", "regeneration", "techniques"], view, { again: ask });
  lens("curves", () => fillTables(lists).catch(problem));
}
