// One record: how an attacker finds it, how many are alike, and what protection changes in it. Also the records at highest risk.
import { bench, countedColumns, onChange, personColumn } from "./bench.js";
import { onShown, show as showPart } from "./places.js";
import { announce, api, count, labelValues, make, requestCounter, scrollingTable, shorten, showProblem, table } from "./app.js";

const place = document.getElementById("person-view"), riskiest = document.getElementById("fold-riskiest"), title = document.getElementById("person-title"), head = document.getElementById("riskiest-head"), list = document.getElementById("riskiest-rows");
let showsValues = false, record = null, candidate = null;

const question = () => ({ quasi_identifiers: countedColumns(), person: personColumn() });
const alikeInWords = (many) => (many === 1 ? "nobody else" : `${count(many - 1)} other${many === 2 ? "" : "s"}`);

const STEPS = ["nothing", "one step", "two steps", "three steps", "four steps", "five steps", "six steps"];
/** The chain as a heading: how few things lead to the person. */
export function chainInWords({ found_by: steps, alike }) {
  if (alike > 1) return `One of ${count(alike)} who look alike`;
  return steps.length ? `One of them, found in ${STEPS[steps.length] ?? `${steps.length} steps`}` : "One of them";
}

/** The chain: how many people are left as the attacker knows one column after the other. */
function chainElement({ people, found_by: steps }) {
  const links = [["everybody", people], ...steps.map(({ column, left }) => [`knows ${shorten(column, 30)}`, left])];
  return make("ol", { class: "chain" }, links.map(([words, left], index) => {
    const bar = make("i", { "aria-hidden": "true" });
    bar.style.width = `${people > 1 ? 100 * Math.log(left) / Math.log(people) : 100}%`;
    return make("li", { class: index && left === 1 ? "found" : "" }, make("span", {}, words, left === 1 && index ? ": found" : ""), make("strong", {}, count(left)), bar);
  }));
}

function attributesElement(found) {
  const after = found.after.find((one) => one.candidate === candidate), cells = new Map((after?.cells ?? []).map((cell) => [cell.column, cell]));
  const made = { kept: "as it is", coarser: "made coarser", removed: "removed" };
  return scrollingTable("The record, column by column", {}, "The record, column by column",
    ["column", "value", "share it", "alike without it", ...(after ? ["after protection"] : [])].map((name, place) => make("th", { scope: "col", class: place === 2 || place === 3 ? "number" : "" }, name)),
    found.attributes.map((one) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, shorten(one.column, 40))),
      make("td", { class: found.masked ? "masked" : "" }, make("bdi", {}, shorten(one.cell))), make("td", { class: "number" }, count(one.alike_by_it_alone)), make("td", { class: "number" }, count(one.alike_without_it)),
      after ? make("td", {}, cells.has(one.column) ? `${made[cells.get(one.column).change]}${cells.get(one.column).change === "coarser" && !found.masked ? `: ${shorten(cells.get(one.column).cell)}` : ""}` : "left out") : null)));
}

/** The other cells, which an attacker learns once the record is found; the secrets come first. */
function learnedElement(found) {
  if (!found.learned.length) return null;
  return scrollingTable("What else it tells", {}, "What an attacker then also learns", ["column", "value"].map((name) => make("th", { scope: "col" }, name)),
    found.learned.map((one) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, shorten(one.column, 40)), one.secret ? make("small", { class: "soft" }, " secret") : null), make("td", { class: found.masked ? "masked" : "" }, make("bdi", {}, shorten(one.cell))))));
}

function draw(found, show) {
  const after = found.after.find((one) => one.candidate === candidate), learned = found.learned.filter((one) => one.secret);
  const hide = labelValues(make("button", { type: "button", class: "link", onclick: () => showPerson(record, !show) }), show);
  title.textContent = chainInWords(found);
  const reads = found.alike === 1 && learned.length ? make("span", {}, "Now ", make("b", {}, learned.slice(0, 3).map((one) => shorten(one.column, 24)).join(", ")), learned.length > 3 ? ` and ${learned.length - 3} more are known too. ` : `${learned.length > 1 ? " are" : " is"} known too. `) : null;
  place.replaceChildren(chainElement(found), make("p", { class: "soft" }, `Record ${count(found.record + 1)}. ${found.alike === 1 ? "No name was needed. " : ""}`, reads, hide),
    ...(after ? [make("p", { class: "small" }, after.released ? `In the candidate it looks like ${alikeInWords(after.alike)}.` : "The candidate leaves it out.")] : []),
    make("details", { open: show }, make("summary", {}, "Column by column"), make("p", { class: "soft small" }, show ? "These are the values of one person: mind who looks over your shoulder." : "Values are hidden; only their kind is shown."), attributesElement(found), learnedElement(found)));
  clearTimeout(hiding);
  if (show) hiding = setTimeout(() => { if (record === found.record) showPerson(record, false, { focus: false }); }, 60_000); // hidden again after a minute
}
let hiding = null;

const countPerson = requestCounter();
/** Show one record; its values only with `show`. */
export async function showPerson(which, show = false, { focus = true } = {}) {
  const isNewest = countPerson();
  record = which;
  try {
    const found = await api("POST", `/tables/${table}/person-view`, { ...question(), record: which, show, candidates: candidate ? [candidate] : [] });
    if (!isNewest()) return;
    draw(found, show);
    if (focus) {
      showPart("who");
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
      place.scrollIntoView({ block: "nearest" });
      announce(found.sentence);
    }
  } catch (error) { showProblem(error); }
}

let turn = 0;
/** Show one of those who are found most easily, another one each time. */
async function showAnother() {
  if (!countedColumns().length) { place.replaceChildren(make("p", { class: "soft" }, "Nothing is known to others: everybody looks alike.")); return; }
  const isNewest = countPerson(), found = await api("POST", `/tables/${table}/riskiest`, { ...question(), rows: 40, show: false });
  if (!isNewest() || !found.rows.length) return;
  const alike = found.rows.filter((one) => one.alike === found.rows[0].alike);
  await showPerson(alike[turn++ % alike.length].record, false, { focus: false });
}
document.getElementById("next-person").addEventListener("click", () => showAnother().catch(showProblem));

const countRiskiest = requestCounter();
async function drawRiskiest() {
  if (!riskiest.open || !countedColumns().length) return;
  const isNewest = countRiskiest(), found = await api("POST", `/tables/${table}/riskiest`, { ...question(), rows: 10, show: showsValues });
  if (!isNewest()) return;
  head.replaceChildren(make("th", { scope: "col" }, "record"), make("th", { scope: "col", class: "number" }, "alike"), ...found.columns.map((name) => make("th", { scope: "col" }, make("bdi", {}, shorten(name, 24)))));
  list.replaceChildren(...found.rows.map((one) => make("tr", {}, make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: () => showPerson(one.record, showsValues) }, count(one.record + 1))),
    make("td", { class: "number" }, count(one.alike)), one.cells.map((cell) => make("td", { class: found.masked ? "masked" : "" }, make("bdi", {}, shorten(cell, 30)))))));
}
onShown("riskiest", () => drawRiskiest().catch(showProblem), () => drawRiskiest().catch(showProblem));
document.getElementById("riskiest-show").addEventListener("click", (event) => {
  showsValues = !showsValues;
  labelValues(event.target, showsValues);
  drawRiskiest().catch(showProblem);
});
onChange("counted", () => {
  if (bench.isCounting) return;
  drawRiskiest().catch(showProblem);
  (record !== null && countedColumns().length ? showPerson(record, false, { focus: false }) : showAnother()).catch(showProblem);
});
document.addEventListener("current-candidate", ({ detail }) => {
  const next = detail && !detail.question_changed ? detail.id : null;
  if (next === candidate) return;
  candidate = next;
  if (record !== null) showPerson(record, false, { focus: false });
});
