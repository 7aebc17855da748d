// The actions that the assessment advises, each with its buttons.
import { announce, api, make, requestCounter, shorten, showProblem } from "./app.js";
import { followJob } from "./jobs.js";
import { allSaved, reloadSettings, reloadTable } from "./bench.js";
import { listedCandidates } from "./candidates.js";
import { show } from "./places.js";
import { sameProtection } from "./ways.js";

const place = document.getElementById("todo");

/** Take an action: the server changes the settings or starts a protection. */
async function takeAction(job, action, choice, button) {
  button.disabled = true;
  try {
    if (!(await allSaved())) return;
    const done = await api("POST", `/jobs/${job.id}/actions/${action.number}`, { choice });
    if (done.settings) {
      if (action.does === "reading") await reloadTable();
      else await reloadSettings();
      document.dispatchEvent(new CustomEvent("advice-taken")); // assess again at once
    }
    if (done.job) {
      followJob(await api("GET", `/jobs/${done.job}`));
      show("safe");
      document.dispatchEvent(new CustomEvent("protecting"));
    }
    announce("Done.");
  } catch (error) { showProblem(error); }
  button.disabled = false;
}

/** The candidate that a choice asks for, if it is made already. */
const madeBy = ({ protection }) => protection && listedCandidates().find((one) => !one.question_changed && sameProtection(one.protection, protection));

/** The button of a choice; for a protection that is among the candidates already, a button that shows them. */
function actionButton(job, action, choice, index) {
  const made = madeBy(choice);
  if (!made) return make("button", { type: "button", onclick: (event) => takeAction(job, action, index, event.currentTarget) }, choice.label);
  return make("button", { type: "button", class: "made", onclick: () => document.dispatchEvent(new CustomEvent("show-candidate", { detail: made.id })) }, `${made.decision === "within" ? "Done: show" : "Show"} ${shorten(made.name, 40)}`);
}

/** What has become of an advised protection that is made, but is no yes any more: an attack on it succeeds. */
function takenBack(action) {
  const made = action.choices.map(madeBy).find((one) => one && one.decision !== "within");
  return made ? make("strong", { class: "taken-back" }, ` But since then: ${made.headline}.`) : null;
}

function draw() {
  place.replaceChildren(...(advice.actions.length ? [make("details", { class: "fold-todo", open: place.querySelector("details")?.open ?? true }, make("summary", {}, make("h2", {}, "What to do")), make("ol", { class: "todo" }, advice.actions.map((action) => make("li", { "data-does": action.does },
    make("span", {}, action.sentence.replaceAll("`", ""), takenBack(action)), action.choices.map((choice, index) => actionButton(advice.job, action, choice, index))))))] : []));
}
document.addEventListener("candidates-listed", draw);

const countRequest = requestCounter();
let advice = { job: null, actions: [] };
/** Show the actions of an assessment that is finished and not stale; none of any other. */
export async function showActions(job) {
  const isNewest = countRequest();
  const isCurrent = job && job.state === "done" && !job.stale, actions = isCurrent ? await api("GET", `/jobs/${job.id}/actions`) : [];
  if (!isNewest()) return;
  advice = { job, actions };
  draw();
}
