// What to do next, as the assessment advises: every recommendation is a button.
import { api, follow, make, problem, say, short, turns } from "./app.js";
import { allKept, reread } from "./bench.js";
import { shelved } from "./candidates.js";
import { look } from "./lenses.js";
import { sameProtection } from "./ways.js";

const place = document.getElementById("todo");

/** Do what a button says: the server changes the settings or starts the protection that was tried. */
async function run(job, action, choice, button) {
  button.disabled = true;
  try {
    if (!(await allKept())) return;
    const done = await api("POST", `/jobs/${job.id}/actions/${action.number}`, { choice });
    if (done.settings) {
      await reread();
      document.dispatchEvent(new CustomEvent("advice-taken")); // the next verdict comes without a further click
    }
    if (done.job) {
      follow(await api("GET", `/jobs/${done.job}`));
      look("candidates");
      document.dispatchEvent(new CustomEvent("protecting"));
    }
    say("Done.");
  } catch (error) { problem(error); }
  button.disabled = false;
}

/** A protection that is made already is shown, not made again. */
function button(job, action, choice, index) {
  const made = choice.protection && shelved().find((one) => !one.question_changed && sameProtection(one.protection, choice.protection));
  return made ? make("button", { type: "button", class: "made", onclick: () => look("candidates") }, `Done: show ${short(made.name, 40)}`)
    : make("button", { type: "button", onclick: (event) => run(job, action, index, event.currentTarget) }, choice.label);
}

function draw() {
  place.replaceChildren(...(advice.actions.length ? [make("h2", {}, "What to do"), make("ol", { class: "todo" }, advice.actions.map((action) => make("li", { "data-does": action.does },
    make("span", {}, action.sentence.replaceAll("`", "")), action.choices.map((choice, index) => button(advice.job, action, choice, index)))))] : []));
}
document.addEventListener("shelved", draw);

const asked = turns();
let advice = { job: null, actions: [] };
/** Show the advice of an assessment that is whole and up to date; of any other there is none to act on. */
export async function advise(job) {
  const isNewest = asked();
  const isCurrent = job && job.state === "done" && !job.stale, actions = isCurrent ? await api("GET", `/jobs/${job.id}/actions`) : [];
  if (!isNewest()) return;
  advice = { job, actions };
  draw();
}
