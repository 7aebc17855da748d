// One record: how an attacker finds it, how many are alike, and what protection changes in it. Also the records at highest risk.
import { bench, knownColumns, onChange, personColumn } from "./bench.js";
import { announce, api, count, labelValues, make, requestCounter, scrollingTable, shorten, showProblem, table } from "./app.js";

const place = document.getElementById("person-view"), riskiest = document.getElementById("riskiest"), head = document.getElementById("riskiest-head"), list = document.getElementById("riskiest-rows");
let showsValues = false, record = null, candidate = null;

const question = () => ({ quasi_identifiers: knownColumns(), person: personColumn() });
const alikeInWords = (many) => (many === 1 ? "nobody else" : `${count(many - 1)} other${many === 2 ? "" : "s"}`);

/** The number of people left as the attacker knows one column after the other. */
function pathElement(found) {
  return make("ol", { class: "path" }, make("li", {}, make("b", {}, count(found.people)), make("span", {}, "people")),
    found.found_by.map((step) => make("li", {}, make("span", { class: "soft" }, "knowing "), make("bdi", {}, shorten(step.column, 30)), make("b", {}, count(step.left)), make("span", {}, step.left === 1 ? "left: found" : "left"))));
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
  const after = found.after.find((one) => one.candidate === candidate);
  const hide = labelValues(make("button", { type: "button", onclick: () => showPerson(record, !show) }), show);
  place.replaceChildren(make("div", { class: "line" }, make("h3", { tabindex: "-1" }, `Record ${count(found.record + 1)}`), make("button", { type: "button", class: "quiet", onclick: () => { record = null; place.replaceChildren(); } }, "Close")),
    make("p", {}, found.sentence), pathElement(found),
    ...(after ? [make("p", { class: "small" }, after.released ? `After the protection shown it looks like ${alikeInWords(after.alike)}.` : "The protection shown leaves it out.")] : []),
    make("p", { class: "row" }, hide, make("span", { class: "soft small" }, show ? "These are the values of one person: mind who looks over your shoulder." : "Values are hidden; only their kind is shown.")), attributesElement(found), ...[learnedElement(found)].filter(Boolean));
}

const countPerson = requestCounter();
/** Show one record; its values only with `show`. */
export async function showPerson(which, show = false) {
  const isNewest = countPerson();
  record = which;
  try {
    const found = await api("POST", `/tables/${table}/person-view`, { ...question(), record: which, show, candidates: candidate ? [candidate] : [] });
    if (!isNewest()) return;
    draw(found, show);
    place.querySelector("h3").focus({ preventScroll: true });
    place.scrollIntoView({ block: "nearest" });
    announce(found.sentence);
  } catch (error) { showProblem(error); }
}

const countRiskiest = requestCounter();
async function drawRiskiest() {
  if (!riskiest.open || !knownColumns().length) return;
  const isNewest = countRiskiest(), found = await api("POST", `/tables/${table}/riskiest`, { ...question(), rows: 10, show: showsValues });
  if (!isNewest()) return;
  head.replaceChildren(make("th", { scope: "col" }, "record"), make("th", { scope: "col", class: "number" }, "alike"), ...found.columns.map((name) => make("th", { scope: "col" }, make("bdi", {}, shorten(name, 24)))));
  list.replaceChildren(...found.rows.map((one) => make("tr", {}, make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: () => showPerson(one.record, showsValues) }, count(one.record + 1))),
    make("td", { class: "number" }, count(one.alike)), one.cells.map((cell) => make("td", { class: found.masked ? "masked" : "" }, make("bdi", {}, shorten(cell, 30)))))));
}
riskiest.addEventListener("toggle", () => drawRiskiest().catch(showProblem));
document.getElementById("riskiest-show").addEventListener("click", (event) => {
  showsValues = !showsValues;
  labelValues(event.target, showsValues);
  drawRiskiest().catch(showProblem);
});
onChange("counted", () => {
  if (bench.isCounting) return;
  drawRiskiest().catch(showProblem);
  if (record !== null && knownColumns().length) showPerson(record);
});
document.addEventListener("candidate-shown", (event) => { candidate = event.detail; if (record !== null) showPerson(record); });
