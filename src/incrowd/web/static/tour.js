// The guided tour of the demo: an invented neighbour is found, and then hidden in the crowd.
import { bench, changeSettings, countedColumns } from "./bench.js";
import { api, count, make, showProblem, table } from "./app.js";
import { show } from "./places.js";
import { showPerson } from "./person.js";
import { assignRole } from "./roles.js";

const place = document.getElementById("tour");
let neighbour = null, description = null;

/** Choose the neighbour: an adult who is unique by common values, and the description by the known columns. */
async function findNeighbour() {
  const found = await api("POST", `/tables/${table}/riskiest`, { quasi_identifiers: countedColumns(), rows: 1000, show: true });
  const alone = found.rows.filter((one) => one.alike === found.rows[0].alike), age = found.columns.indexOf("age_yrs"); // sorted by rareness
  neighbour = alone.filter((one) => Number(one.cells[age]) >= 18).at(-1) ?? alone.at(-1);
  description = found.columns.map((name, index) => cellInWords(name, neighbour.cells[index])).join(", ");
}

const CODES = {
  sex: { 1: "a man", 2: "a woman" },
  ethncty: { 1: "Hispanic", 2: "not Hispanic" },
  race: { 1: "White", 2: "Black", 3: "Native American", 4: "Asian" },
};
const NAMED = { oshpd_id: "hospital number", patzip: "lives in ZIP code", patcnty: "in county", adm_qtr: "went to hospital in quarter", ethncty: "ethnicity of code", race: "race of code", sex: "sex of code" };
/** A cell of the demo in words. */
export function cellInWords(name, cell) {
  if (CODES[name]?.[cell]) return CODES[name][cell];
  if (name === "age_yrs") return cell === "85" ? "85 years old or older" : `${cell} years old`;
  if (name === "los") return `${cell} days in hospital`;
  return `${NAMED[name] ?? name} ${cell}`;
}

const STEPS = [
  { title: "These people do not exist", at: "#crowd", text: () => `${count(bench.counts.people)} invented hospital stays. A mark is a person, or a few who look alike. The farther out, the fewer look like them: at the rim they are alone.` },
  { title: "Your neighbour is among them", at: "#crowd", text: () => `You know from the street: ${description}. That is not a name. Is it enough?`, needed: true, act: "Find them", does: () => showPerson(neighbour.record, true) },
  { title: "Found", at: "#person-view", text: () => `It was: ${neighbour.alike === 1 ? "nobody else is like that" : `only ${count(neighbour.alike)} are like that`}. Anybody who gets this table now reads the rest of the record, the diagnosis (diag_p) and the bill (charge): they stand below it. No name was needed.` },
  { title: "What gives them away?", at: "#columns", text: () => "Beside each column stands who is alone by it, and with two others. Take the most telling one away and watch the crowd move; Undo brings it back.", act: "Take age away", does: () => giveRole("age_yrs", "other") },
  { title: "Now make it safe", text: () => "Answer both questions for each column, say who is to get the table, and press Assess. “Least loss that passes” then finds the gentlest protection that may go out, and the crowd shows what it does." },
];

function giveRole(column, role) {
  const made = assignRole(bench.columns, bench.settings, [column], role);
  changeSettings(made.changes, made.kept);
}

/** On a phone, scroll what a step speaks of above the sheet of the tour. */
function showSubject({ at }) {
  if (at && matchMedia("(max-width: 40rem)").matches) requestAnimationFrame(() => document.querySelector(at)?.scrollIntoView({ block: "start" }));
}

function endTour() {
  place.hidden = true;
  history.replaceState(null, "", location.pathname);
}

function showStep(index) {
  const step = STEPS[index], last = index === STEPS.length - 1;
  let acted = false;
  const actNow = () => { acted = true; show("who"); step.does(); showSubject(step); }; // the next step tells of its result
  const act = step.act && make("button", { type: "button", class: "act", onclick: actNow }, step.act);
  place.replaceChildren(make("p", { class: "small soft" }, `Step ${index + 1} of ${STEPS.length}`), make("h2", { tabindex: "-1" }, step.title), make("p", {}, step.text()),
    make("p", { class: "row" }, act, make("button", { type: "button", class: act ? "" : "main", onclick: () => { if (step.needed && !acted) actNow(); if (last) endTour(); else showStep(index + 1); } }, last ? "Look around" : "Next"), last ? null : make("button", { type: "button", class: "quiet", onclick: endTour }, "Leave the tour")));
  place.querySelector("h2").focus({ preventScroll: true });
  showSubject(step);
}

/** Start the tour if the address ends in #tour and columns are known. */
export async function startTour() {
  if (location.hash !== "#tour" || !countedColumns().length) return;
  try {
    await findNeighbour();
    place.hidden = false;
    showStep(0);
  } catch (error) { showProblem(error); }
}
