// The inspector of a column: its facts, the reason for its suggested role, its distribution, values, and the risk it adds.
import { addedRisk } from "./added-risk.js";
import { bench, onChange } from "./bench.js";
import { missingCodesFields, scaleField, spellingsField } from "./reading.js";
import { ROLES, hasRole, reasonInWords } from "./roles.js";
import { api, count, debounced, make, patch, percent, shorten, showProblem, table } from "./app.js";

const place = make("div", { id: "inspector", class: "inspector", "aria-live": "polite" });
export const drawer = make("tr", { class: "more" }, make("td", { colspan: "4" }, place));
const histograms = new Map(); // by column, without values
const LABELLED = 4; // bars that have room for a label each
let shown = null, assign = () => {}, showsValues = false, readingIsOpen = false; // whether the reading options are unfolded

/** A histogram; its last bar is all other values. */
function histogramElement(found) {
  const all = [...found.counts, ...(found.others ? [found.others] : [])], most = Math.max(...all, 1);
  const label = (index) => (index >= found.counts.length ? "all other values" : found.labels ? shorten(String(found.labels[index]), 30) : found.edges ? `${found.edges[index]} to ${found.edges[index + 1]}` : "");
  const bars = make("div", { class: "histogram", role: "img", "aria-label": `${found.kind === "ranges" ? "Distribution over ranges" : "The most common values"}; the largest part has ${count(most)} rows` },
    all.map((rows, index) => make("i", { title: `${label(index)}${label(index) ? ": " : ""}${count(rows)} rows` })));
  all.forEach((rows, index) => { bars.children[index].style.height = `${Math.max(2, 100 * rows / most)}%`; });
  if (all.length > LABELLED) return bars;
  const sum = all.reduce((total, rows) => total + rows, 0); // a few bars say nothing without their numbers
  return make("div", {}, bars, make("div", { class: "bar-labels small soft" }, all.map((rows, index) => make("span", {}, `${found.labels && label(index) ? `${label(index)}: ` : ""}${percent(rows / sum)}`))));
}

/** The largest parts with their values, which are shown only on request. */
function valuesElement(found) {
  const parts = found.counts.map((rows, index) => [found.labels ? String(found.labels[index]) : `${found.edges[index]} to ${found.edges[index + 1]}`, rows]);
  const most = parts.sort((a, b) => b[1] - a[1]).slice(0, 8);
  return make("ul", { class: "values small" }, most.map(([value, rows]) => make("li", {}, make("bdi", {}, shorten(value, 40)), make("span", { class: "soft" }, count(rows)))));
}

const factsInWords = (column) => [column.type, column.distinct === null ? null : `${count(column.distinct)} distinct`, column.nulls ? `${count(column.nulls)} missing` : null, column.scale].filter(Boolean).join(" · ");

function factsElements(column) {
  const codes = column.missing_codes.length ? ` ${column.missing_codes.join(", ")} may stand for a missing value.` : "";
  return [make("p", { class: "soft" }, factsInWords(column)), make("p", {}, reasonInWords(column, bench.settings) + codes)];
}

/** Whom the column singles out, alone and with the most telling others. */
function addedElement(column) {
  const found = addedRisk.get(column.name);
  if (!found) return null;
  const alone = found.alone ? `Alone it singles out ${count(found.alone)} people` : "Alone it singles out nobody";
  const others = found.others.map((name) => shorten(name, 30)).join(" and ");
  return make("p", { class: "added" }, others ? `${alone}; with ${others}, ${count(found.together)}.` : `${alone}.`);
}

/** The list of roles, for columns that neither question is asked of. */
function roleField(column, giveRole) {
  const now = bench.settings.decided.includes(column.name) ? bench.settings.roles[column.name] : "";
  return make("label", { class: "treat" }, "Treat as ", make("select", { "aria-label": `Treat ${shorten(column.name, 40)} as`, onchange: (event) => giveRole(event.target.value) },
    make("option", { value: "", selected: now === "", disabled: true }, "not answered"), ROLES.map(({ role, words }) => make("option", { value: role, selected: role === now }, words))));
}

async function draw(column) {
  const show = showsValues, name = column.name;
  if (show || !histograms.has(name)) {
    const found = await api("POST", `/tables/${table}/columns/histogram`, { column: name, bins: 24, show });
    if (!show) histograms.set(name, found);
    if (shown !== name || showsValues !== show) return;
    if (show) { fill(column, found); return; }
  }
  fill(column, histograms.get(name));
}

function fill(column, found) {
  const button = make("button", { type: "button", class: "quiet", "aria-pressed": String(showsValues), onclick: () => { showsValues = !showsValues; draw(column).catch(showProblem); } }, showsValues ? "Hide the values" : "Show values");
  const coarsen = hasRole(bench.settings.roles[column.name], "quasi-identifier") ? make("button", { type: "button", class: "quiet", onclick: () => document.dispatchEvent(new CustomEvent("coarsen", { detail: column.name })) }, "Coarsen…") : "";
  patch(place, [...factsElements(column), histogramElement(found), addedElement(column) ?? "", roleField(column, assign), showsValues ? valuesElement(found) : "", make("p", { class: "row" }, button, coarsen),
    make("details", { open: readingIsOpen }, make("summary", {}, "How it is read: scale, missing codes, spellings"), scaleField([column]), missingCodesFields(column) ?? "", column.type === "text" ? spellingsField() : "")]);
}
const drawSoon = debounced((column) => { if (shown === column.name) draw(column).catch(showProblem); }, 120); // not for every row that the arrow keys pass

place.addEventListener("toggle", (event) => {
  readingIsOpen = event.target.open;
}, true);
document.addEventListener("table-reloaded", () => histograms.clear());

/** Show one column in the drawer; `giveRole` gives it a role. */
export function inspect(column, giveRole) {
  assign = giveRole;
  if (shown !== column.name) { showsValues = false; place.replaceChildren(...factsElements(column)); }
  shown = column.name;
  drawSoon(column);
}
onChange("settings", () => { const column = bench.columns.find(({ name }) => name === shown); if (column && drawer.isConnected) drawSoon(column); });
