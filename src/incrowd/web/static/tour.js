// A guided look around in two minutes: an invented neighbour is found, and then lost in the crowd.
import { bench, known, put } from "./bench.js";
import { api, count, make, problem, table } from "./app.js";
import { look } from "./lenses.js";
import { showPerson } from "./person.js";
import { assignRole } from "./roles.js";

const place = document.getElementById("tour");
let neighbour = null, told = null;

/** The neighbour: alone among these invented people although nothing about them is rare, and what everybody in the street knows. */
async function meet() {
  const found = await api("POST", `/tables/${table}/riskiest`, { quasi_identifiers: known(), rows: 1000, show: true });
  const alone = found.rows.filter((one) => one.alike === found.rows[0].alike), age = found.columns.indexOf("age_yrs"); // the rarest come first
  neighbour = alone.filter((one) => Number(one.cells[age]) >= 18).at(-1) ?? alone.at(-1);
  told = found.columns.map((name, index) => inPlainWords(name, neighbour.cells[index])).join(", ");
}

const CODES = {
  sex: { 1: "a man", 2: "a woman" },
  ethncty: { 1: "Hispanic", 2: "not Hispanic" },
  race: { 1: "White", 2: "Black", 3: "Native American", 4: "Asian" },
};
const NAMED = { oshpd_id: "hospital number", patzip: "lives in ZIP code", patcnty: "in county", adm_qtr: "went to hospital in quarter", ethncty: "ethnicity of code", race: "race of code", sex: "sex of code" };
/** A cell of the invented table in words: its columns and codes are those of a published one. */
export function inPlainWords(name, cell) {
  if (CODES[name]?.[cell]) return CODES[name][cell];
  if (name === "age_yrs") return cell === "85" ? "85 years old or older" : `${cell} years old`;
  if (name === "los") return `${cell} days in hospital`;
  return `${NAMED[name] ?? name} ${cell}`;
}

const STEPS = [
  { title: "These people do not exist", text: () => `${count(bench.counted.people)} invented hospital stays. A mark is a person, or a few who look alike. The farther out, the fewer look like them: at the rim they are alone.` },
  { title: "Your neighbour is among them", text: () => `You know from the street: ${told}. That is not a name. Is it enough?`, act: "Find them", does: () => showPerson(neighbour.record, true) },
  { title: "Found", text: () => `It was: ${neighbour.alike === 1 ? "nobody else is like that" : `only ${count(neighbour.alike)} are like that`}. Whoever gets this table now reads the rest of the record, the diagnosis (diag_p) and the bill (charge): they stand below it. No name was needed.` },
  { title: "What gives them away?", text: () => "In the list of columns, a number says how many people are alone because others know it. Take the most telling one away and watch the crowd move; Undo brings it back.", act: "Take age away", does: () => give("age_yrs", "other") },
  { title: "Or make everybody look like others", text: () => "Move “Smallest class (k)” beside the drawing: those alone are joined with others, until everybody is one of at least k. Nothing is changed yet.", act: "Show it", does: () => join(11) },
  { title: "Now decide", text: () => "A suggestion is no decision: confirm what the columns are, say who is to get the table, and press Assess. “Least loss that passes” then finds the gentlest protection that may go out." },
];

function give(column, role) {
  const made = assignRole(bench.columns, bench.now, [column], role);
  put(made.changes, made.kept);
}

function join(k) {
  const slider = document.getElementById("crowd-k");
  slider.value = String(k);
  slider.dispatchEvent(new Event("input"));
}

function end() {
  place.hidden = true;
  history.replaceState(null, "", location.pathname);
}

function show(index) {
  const step = STEPS[index], last = index === STEPS.length - 1;
  const act = step.act && make("button", { type: "button", class: "act", onclick: () => { look("crowd"); step.does(); } }, step.act);
  place.replaceChildren(make("p", { class: "small soft" }, `Step ${index + 1} of ${STEPS.length}`), make("h2", { tabindex: "-1" }, step.title), make("p", {}, step.text()),
    make("p", { class: "row" }, act, make("button", { type: "button", class: act ? "" : "main", onclick: () => (last ? end() : show(index + 1)) }, last ? "Look around" : "Next"), last ? null : make("button", { type: "button", class: "quiet", onclick: end }, "Leave the tour")));
  place.querySelector("h2").focus({ preventScroll: true });
}

/** Begin where the address asks for it, and there is somebody to find. */
export async function tour() {
  if (location.hash !== "#tour" || !known().length) return;
  try {
    await meet();
    place.hidden = false;
    show(0);
  } catch (error) { problem(error); }
}
