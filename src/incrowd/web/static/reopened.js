// A reopened project: the verdict then, and its candidates until they are made again on this table.
import { api, cancel, known, make, over, percent, problem, say, short, start, table, turns, watch } from "./app.js";
import { thenInWords } from "./bar.js";
import { madeBy } from "./candidates.js";
import { ready } from "./protect.js";
import { assess } from "./verdict.js";

const shelf = document.getElementById("reopened"), told = document.getElementById("project-changed"), differs = document.getElementById("reopened-changed");
const day = (saved) => saved.slice(0, 10);
const asked = turns();

/** Candidates are made again by what made them, under their old names; what else the form asks for stays. */
async function makeAgain(ones) {
  for (const one of ones) {
    const job = await start(`/tables/${table}/protections`, { protection: one.protection });
    await api("POST", `/jobs/${job.id}/name`, { name: short(one.name, 100) });
  }
  await draw();
}

function card(one) {
  return make("li", { class: "candidate outdated" },
    make("p", { class: "headline" }, make("b", { class: "mark", "aria-hidden": "true" }, "↺"), make("bdi", {}, short(one.name, 40))),
    make("p", { class: "small" }, `Saved ${day(one.at)}: ${thenInWords(one.summary)}`),
    make("p", { class: "small soft" }, madeBy(one)),
    make("p", { class: "small soft" }, one.cannot ? `It cannot be made again as it was: ${one.cannot}.` : "Not made again yet on this table."),
    one.cannot ? null : make("p", { class: "row" }, make("button", { type: "button", class: "remake", onclick: () => makeAgain([one]).catch(problem) }, "Make it again")));
}

/** Draw what is saved and not made again, and what differs; gives it. */
async function draw() {
  const isNewest = asked(), saved = await api("GET", `/tables/${table}/project/saved`);
  if (!isNewest()) return saved;
  const left = saved?.candidates ?? [], possible = left.filter((one) => !one.cannot);
  shelf.hidden = !left.length;
  shelf.replaceChildren(...(left.length ? [
    make("p", { class: "row" }, `${left.length} of the project that was saved on ${day(saved.saved)}:`,
      possible.length > 1 ? make("button", { type: "button", class: "remake-all", onclick: () => makeAgain(possible).catch(problem) }, "Make all again") : null,
      make("button", { type: "button", class: "quiet", onclick: () => api("DELETE", `/tables/${table}/project/saved`).then(draw).catch(problem) }, "Forget them")),
    make("ul", { class: "shelf" }, left.map(card))] : []));
  const changed = () => [make("p", {}, `Reopened: the project of ${short(saved.of)}, saved on ${day(saved.saved)}. ${saved.changed.length ? "What is different in this table:" : "The table has the same columns."}`),
    make("ul", {}, saved.changed.map((line) => make("li", {}, short(line, 200))))];
  differs.replaceChildren(...(saved?.changed.length ? changed() : [])); // where a project opens
  told.replaceChildren(...(saved ? [...changed(),
    ...(saved.assessment ? [make("p", {}, `The verdict then: ${saved.assessment.headline}.`), make("p", { id: "verdict-again" })] : [])] : []));
  compare(saved);
  return saved;
}

/** The verdict then beside the one of now, once there is one by the settings as they are. */
async function compare(saved) {
  const now = [...known.values()].filter((job) => job.kind === "assessment" && job.table === table && !job.stale).sort((a, b) => (a.created < b.created ? 1 : -1))[0];
  if (!saved?.assessment || !now) return;
  const place = told.querySelector("#verdict-again");
  if (!over(now)) { place.textContent = "It is assessed again now."; return; }
  if (now.state !== "done") return;
  const { verdict } = await api("GET", `/jobs/${now.id}/result`), same = verdict.headline === saved.assessment.headline && verdict.highest === saved.assessment.highest;
  place.textContent = same ? "Assessed again: the same." : `Assessed again: ${verdict.headline}. The highest risk was ${percent(saved.assessment.highest)} and is ${percent(verdict.highest)}.`;
}

/** Go on where the project was left: the verdict is made again, and the candidates at once where that is quick. */
export async function goOn() {
  for (const job of known.values()) if (job.kind === "assessment" && job.table === table && !over(job)) await cancel(job); // by the roles before
  const saved = await draw();
  if (saved.candidates.length) ready(true); // the form is as it was saved
  if (saved.assessment) await assess();
  await makeAgain(saved.candidates.filter((one) => one.is_quick));
  say("The project is open.");
}

document.addEventListener("shelved", () => draw().catch(problem));
watch((job) => job.kind === "assessment" && job.table === table && over(job), () => draw().catch(problem));
