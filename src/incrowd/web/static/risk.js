// The dashboard: the newest assessment, started when there is none for these settings.
import { answersOf, newest, problem, resume, start, table } from "./app.js";

const view = document.getElementById("view");
const stale = document.getElementById("stale");
const assess = () => { stale.hidden = true; return start(`/tables/${table}/assessments`, {}).catch(problem); };

answersOf("assessment", view, { form: view.dataset.form || "", again: assess });
document.getElementById("again")?.addEventListener("click", assess);
document.getElementById("renew").addEventListener("click", assess);
document.addEventListener("stepped", () => { stale.hidden = false; });

try {
  const last = newest(await resume(), "assessment");
  if (!last) await assess();
  else if (last.stale && last.state === "done") stale.hidden = false;
} catch (error) { problem(error); }
