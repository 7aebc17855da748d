// The dashboard: the newest assessment, started when there is none for these settings.
import { answersOf, newest } from "./answers.js";
import { api, problem, resume, start, table } from "./app.js";
import { protectedTable } from "./protected.js";

const view = document.getElementById("view");
const stale = document.getElementById("stale");
const assess = () => { stale.hidden = true; return start(`/tables/${table}/assessments`, {}).catch(problem); };

/** Whether the assessment shown is by the settings as they are now. */
async function check() { if (view.dataset.shown) stale.hidden = !(await api("GET", `/jobs/${view.dataset.shown}`)).stale; }

answersOf("assessment", view, { form: view.dataset.form || "", again: assess, shown: (job) => { stale.hidden = !job.stale; } });
const made = document.getElementById("protected-view");
if (made) {
  const showAgain = answersOf("protection", made, { quiet: true, shown: () => { document.getElementById("protected").hidden = false; } });
  protectedTable(made, "report", async () => { await check(); await start(`/tables/${table}/protections`, {}); });
  document.addEventListener("stepped", showAgain);
}
document.getElementById("again")?.addEventListener("click", assess);
document.getElementById("renew").addEventListener("click", assess);
document.addEventListener("stepped", () => check().catch(problem));

try {
  if (!newest(await resume(), "assessment")) await assess();
} catch (error) { problem(error); }
