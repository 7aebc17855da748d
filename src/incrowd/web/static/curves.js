// The page of curves: a form for curves, techniques, sets of items and masked files, with the result below.
import { showAnswersOf } from "./answers.js";
import { showProblem, table } from "./app.js";
import { resumeJobs, startJob } from "./jobs.js";
import { PURPOSES, curveQuestion } from "./curve-questions.js";
import { fillTables, uploadOnChange } from "./other-tables.js";

const form = document.getElementById("curves"), kind = document.getElementById("curve-kind"), view = document.getElementById("curves-view");
const value = (id) => form.querySelector(`#${id}`).value;

function showFields() {
  for (const part of form.querySelectorAll("[data-for]")) part.hidden = !part.dataset.for.split(" ").includes(kind.value);
  document.getElementById("curve-purpose").textContent = PURPOSES[kind.value];
}

async function startCurve() {
  try {
    const [address, question] = curveQuestion(kind.value, {
      compare: form.querySelector("#curve-compare").checked, known: Number(value("curve-known")), person: value("curve-person"), item: value("curve-item"), second: value("curve-second"), time: value("curve-time"), amount: value("curve-amount"), k: Number(value("curve-k")), ranks: value("curve-ranks"),
      group: value("curve-group"), confidence: value("curve-confidence"), pasted: value("pasted-ranks"), gallery: value("curve-gallery"), counts: value("curve-counts"), techniques: value("pasted-techniques"),
    });
    await startJob(`/tables/${table}/${address}`, question);
  } catch (error) { showProblem(error); }
}

const gallery = form.querySelector("#curve-gallery"), counts = form.querySelector("#curve-counts"), lists = [gallery, counts];
form.addEventListener("submit", (event) => { event.preventDefault(); startCurve(); });
kind.addEventListener("change", showFields);
uploadOnChange(form.querySelector("#gallery-file"), lists);
uploadOnChange(form.querySelector("#counts-file"), [counts, gallery]);
showFields();
showAnswersOf(["curve", "check", "itemsets", "sets", "masked", "regeneration", "techniques"], view, { again: startCurve });
try {
  await fillTables(lists);
  await resumeJobs();
  document.documentElement.dataset.settled = "yes";
} catch (error) { showProblem(error); }
