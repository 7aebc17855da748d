// One record with another's eyes: by what it is found, how many look alike, what protection makes of it. And the records at highest risk.
import { bench, known, on, person } from "./bench.js";
import { api, count, make, problem, say, short, table, turns } from "./app.js";

const place = document.getElementById("person-view"), riskiest = document.getElementById("riskiest"), head = document.getElementById("riskiest-head"), list = document.getElementById("riskiest-rows");
let shown = false, record = null, asked = 0, candidate = null;

const question = () => ({ quasi_identifiers: known(), person: person() });
const alike = (many) => (many === 1 ? "nobody else" : `${count(many - 1)} other${many === 2 ? "" : "s"}`);

/** How the crowd shrinks as the columns become known, one after the other. */
function path(found) {
  return make("ol", { class: "path" }, make("li", {}, make("b", {}, count(found.people)), make("span", {}, "people")),
    found.found_by.map((step) => make("li", {}, make("span", { class: "soft" }, "knowing "), make("bdi", {}, short(step.column, 30)), make("b", {}, count(step.left)), make("span", {}, step.left === 1 ? "left: found" : "left"))));
}

function attributes(found) {
  const after = found.after.find((one) => one.candidate === candidate), cells = new Map((after?.cells ?? []).map((cell) => [cell.column, cell]));
  const made = { kept: "as it is", coarser: "made coarser", removed: "removed" };
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The record, column by column" }, make("table", {},
    make("caption", {}, "The record, column by column"),
    make("thead", {}, make("tr", {}, ["column", "value", "share it", "alike without it", ...(after ? ["after protection"] : [])].map((name, place) => make("th", { scope: "col", class: place === 2 || place === 3 ? "number" : "" }, name)))),
    make("tbody", {}, found.attributes.map((one) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, short(one.column, 40))),
      make("td", { class: found.masked ? "masked" : "" }, make("bdi", {}, short(one.cell))), make("td", { class: "number" }, count(one.alike_by_it_alone)), make("td", { class: "number" }, count(one.alike_without_it)),
      after ? make("td", {}, cells.has(one.column) ? `${made[cells.get(one.column).change]}${cells.get(one.column).change === "coarser" && !found.masked ? `: ${short(cells.get(one.column).cell)}` : ""}` : "left out") : null)))));
}

/** What whoever finds the record reads besides; the secrets come first. */
function learned(found) {
  if (!found.learned.length) return null;
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What else it tells" }, make("table", {},
    make("caption", {}, "What its finder also reads"),
    make("thead", {}, make("tr", {}, ["column", "value"].map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, found.learned.map((one) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, short(one.column, 40)), one.secret ? make("small", { class: "soft" }, " secret") : null), make("td", { class: found.masked ? "masked" : "" }, make("bdi", {}, short(one.cell))))))));
}

function draw(found, show) {
  const after = found.after.find((one) => one.candidate === candidate);
  const hide = make("button", { type: "button", "aria-pressed": String(show), onclick: () => showPerson(record, !show) }, show ? "Hide the values" : "Show the values");
  place.replaceChildren(make("div", { class: "line" }, make("h3", { tabindex: "-1" }, `Record ${count(found.record + 1)}`), make("button", { type: "button", class: "quiet", onclick: () => { record = null; place.replaceChildren(); } }, "Close")),
    make("p", {}, found.sentence), path(found),
    ...(after ? [make("p", { class: "small" }, after.released ? `After the protection shown it looks like ${alike(after.alike)}.` : "The protection shown leaves it out.")] : []),
    make("p", { class: "row" }, hide, make("span", { class: "soft small" }, show ? "These are the values of one person: mind who looks over your shoulder." : "Values are hidden; only their kind is shown.")), attributes(found), ...[learned(found)].filter(Boolean));
}

/** Look at one record; its values only where somebody asks for them. */
export async function showPerson(which, show = false) {
  const mine = ++asked;
  record = which;
  try {
    const found = await api("POST", `/tables/${table}/person-view`, { ...question(), record: which, show, candidates: candidate ? [candidate] : [] });
    if (mine !== asked) return;
    draw(found, show);
    place.querySelector("h3").focus({ preventScroll: true });
    place.scrollIntoView({ block: "nearest" });
    say(found.sentence);
  } catch (error) { problem(error); }
}

const riskiestAsked = turns();
async function drawRiskiest() {
  if (!riskiest.open || !known().length) return;
  const isNewest = riskiestAsked(), found = await api("POST", `/tables/${table}/riskiest`, { ...question(), rows: 10, show: shown });
  if (!isNewest()) return;
  head.replaceChildren(make("th", { scope: "col" }, "record"), make("th", { scope: "col", class: "number" }, "alike"), ...found.columns.map((name) => make("th", { scope: "col" }, make("bdi", {}, short(name, 24)))));
  list.replaceChildren(...found.rows.map((one) => make("tr", {}, make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: () => showPerson(one.record, shown) }, count(one.record + 1))),
    make("td", { class: "number" }, count(one.alike)), one.cells.map((cell) => make("td", { class: found.masked ? "masked" : "" }, make("bdi", {}, short(cell, 30)))))));
}
riskiest.addEventListener("toggle", () => drawRiskiest().catch(problem));
document.getElementById("riskiest-show").addEventListener("click", (event) => {
  shown = !shown;
  event.target.setAttribute("aria-pressed", String(shown));
  event.target.textContent = shown ? "Hide the values" : "Show the values";
  drawRiskiest().catch(problem);
});
on("counted", () => {
  if (bench.counting) return;
  drawRiskiest().catch(problem);
  if (record !== null && known().length) showPerson(record);
});
document.addEventListener("protected", (event) => { candidate = event.detail; if (record !== null) showPerson(record); });
