// What to do next, as the assessment advises: every recommendation is a button.
import { api, follow, make, problem, say, turns } from "./app.js";
import { allKept, reread } from "./bench.js";
import { look } from "./lenses.js";

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

function entry(job, action) {
  return make("li", { "data-does": action.does }, make("span", {}, action.sentence.replaceAll("`", "")),
    action.choices.map((choice, index) => make("button", { type: "button", onclick: (event) => run(job, action, index, event.currentTarget) }, choice.label)));
}

const asked = turns();
/** Show the advice of an assessment that is whole and up to date; of any other there is none to act on. */
export async function advise(job) {
  const isNewest = asked();
  if (!job || job.state !== "done" || job.stale) { place.replaceChildren(); return; }
  const found = await api("GET", `/jobs/${job.id}/actions`);
  if (isNewest()) place.replaceChildren(...(found.length ? [make("h2", {}, "What to do"), make("ol", { class: "todo" }, found.map((action) => entry(job, action)))] : []));
}
