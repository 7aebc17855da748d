// The page for a forecast from pasted points, without a table.
import { showAnswersOf } from "./answers.js";
import { showProblem } from "./app.js";
import { resumeJobs, startJob } from "./jobs.js";
import { parsePoints } from "./numbers.js";
import { fillSlider, populations } from "./slider.js";

const view = document.getElementById("view"), pasted = document.getElementById("pasted");
showAnswersOf("points", view, { shown: () => fillSlider(view) });

document.getElementById("points").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await startJob("/forecasts", { points: parsePoints(pasted.value), at: populations() });
  } catch (error) { showProblem(error); }
});
document.getElementById("example").addEventListener("click", () => {
  pasted.value = "people, found\n100, 0.993\n1000, 0.968\n10000, 0.912\n100000, 0.815";
  pasted.focus();
});
try { await resumeJobs(); } catch (error) { showProblem(error); }
for (const button of document.querySelectorAll("button[type=submit]")) button.disabled = false; // disabled until this script has run
