// One column, looked at: what it holds, why its role was suggested, its distribution, some values, what it adds if others knew it.
import { adds } from "./adds.js";
import { bench } from "./bench.js";
import { missingOf, scaleOf } from "./reading.js";
import { api, count, make, patch, problem, settled, short, table } from "./app.js";

const place = document.getElementById("inspector");
const kept = new Map(); // histograms without values
let shown = null, values = false, reading = false; // whether how it is read is unfolded

/** How large the parts are, as heights; the last is everything else. */
function histogram(found) {
  const all = [...found.counts, ...(found.others ? [found.others] : [])], most = Math.max(...all, 1);
  const label = (index) => (index >= found.counts.length ? "all other values" : found.labels ? short(String(found.labels[index]), 30) : found.edges ? `${found.edges[index]} to ${found.edges[index + 1]}` : "");
  const bars = make("div", { class: "histogram", role: "img", "aria-label": `${found.kind === "ranges" ? "Distribution over ranges" : "The most common values"}; the largest part has ${count(most)} rows` },
    all.map((rows, index) => make("i", { title: `${label(index)}${label(index) ? ": " : ""}${count(rows)} rows` })));
  all.forEach((rows, index) => { bars.children[index].style.height = `${Math.max(2, 100 * rows / most)}%`; });
  return bars;
}

/** The parts with their values, largest first: only where somebody asked for them. */
function valuesOf(found) {
  const parts = found.counts.map((rows, index) => [found.labels ? String(found.labels[index]) : `${found.edges[index]} to ${found.edges[index + 1]}`, rows]);
  const most = parts.sort((a, b) => b[1] - a[1]).slice(0, 8);
  return make("ul", { class: "values small" }, most.map(([value, rows]) => make("li", {}, make("bdi", {}, short(value, 40)), make("span", { class: "soft" }, count(rows)))));
}

const facts = (column) => [column.type, column.distinct === null ? null : `${count(column.distinct)} distinct`, column.nulls ? `${count(column.nulls)} missing` : null, column.scale].filter(Boolean).join(" · ");

function head(column) {
  const said = bench.now.decided.includes(column.name) ? "As you said." : `Only suggested: ${column.reason}.`;
  const codes = column.missing_codes.length ? ` ${column.missing_codes.join(", ")} may stand for a missing value.` : "";
  return [make("p", { class: "soft" }, facts(column)), make("p", {}, said + codes)];
}

/** What it would add to what others know, or adds now. */
function added(column) {
  const found = adds.get(column.name);
  if (!found) return null;
  const people = count(Math.abs(found.added_uniques)), right = count(Math.abs(found.added_correctness) * (bench.counted?.people ?? bench.about.rows));
  return make("p", { class: "added" }, bench.now.roles[column.name] === "quasi-identifier"
    ? `Because others know it, ${people} more people are alone, and about ${right} more are guessed right.`
    : `If others knew it, ${people} more people would be alone, and about ${right} more be guessed right.`);
}

async function draw(column) {
  const show = values, name = column.name;
  if (show || !kept.has(name)) {
    const found = await api("POST", `/tables/${table}/columns/histogram`, { column: name, bins: 24, show });
    if (!show) kept.set(name, found);
    if (shown !== name || values !== show) return;
    if (show) { put(column, found); return; }
  }
  put(column, kept.get(name));
}

function put(column, found) {
  const button = make("button", { type: "button", class: "quiet", "aria-pressed": String(values), onclick: () => { values = !values; draw(column).catch(problem); } }, values ? "Hide the values" : "Show values");
  const coarsen = bench.now.roles[column.name] === "quasi-identifier" ? make("button", { type: "button", class: "quiet", onclick: () => document.dispatchEvent(new CustomEvent("coarsen", { detail: column.name })) }, "Coarsen…") : "";
  patch(place, [...head(column), histogram(found), added(column) ?? "", values ? valuesOf(found) : "", make("p", { class: "row" }, button, coarsen),
    make("details", { open: reading }, make("summary", {}, "How it is read: scale, missing codes"), scaleOf([column]), missingOf(column) ?? "")]);
}
const drawSoon = settled((column) => { if (shown === column.name) draw(column).catch(problem); }, 120); // not for every line that arrows pass

place.addEventListener("toggle", (event) => {
  reading = event.target.open;
  if (reading) event.target.scrollIntoView({ block: "nearest" }); // it opens beneath what is seen of the pane
}, true);
document.addEventListener("reopened", () => kept.clear());

/** Show a column; of several, what can be said of all of them. */
export function inspect(column, several) {
  if (column === null) {
    shown = null;
    place.replaceChildren(...(several.length ? [make("p", { class: "soft small" }, "A key or a button above gives all of them a role."), scaleOf(several)] : []));
    return;
  }
  if (shown !== column.name) { values = false; place.replaceChildren(...head(column)); }
  shown = column.name;
  drawSoon(column);
}
