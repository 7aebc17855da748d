// The dashboard: the newest assessment, started when there is none for these settings.
import { answersOf, api, newest, problem, resume, start, table } from "./app.js";

const view = document.getElementById("view");
const stale = document.getElementById("stale");
const assess = () => { stale.hidden = true; return start(`/tables/${table}/assessments`, {}).catch(problem); };

answersOf("assessment", view, { form: view.dataset.form || "", again: assess });
const made = document.getElementById("protected-view");
if (made) {
  answersOf("protection", made, { quiet: true, shown: () => { document.getElementById("protected").hidden = false; } });
  made.addEventListener("click", async (event) => {
    const button = event.target.closest("button.apply");
    if (!button) return;
    button.disabled = true;
    try {
      location.href = `/tables/${(await api("POST", `/jobs/${made.dataset.job}/apply`)).id}/report`;
    } catch (error) { problem(error); button.disabled = false; }
  });
}
document.getElementById("again")?.addEventListener("click", assess);
document.getElementById("renew").addEventListener("click", assess);
document.addEventListener("stepped", () => { stale.hidden = false; });

try {
  const last = newest(await resume(), "assessment");
  if (!last) await assess();
  else if (last.stale && last.state === "done") stale.hidden = false;
} catch (error) { problem(error); }
