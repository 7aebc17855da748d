// Two candidates side by side: numbers, distributions, and rows with changed cells marked.
import { focusOn } from "./answers.js";
import { api, count, labelValues, make, percent, requestCounter, scrollingTable, shorten, showProblem, table } from "./app.js";
import { releasedInWords } from "./example-record.js";

const place = document.getElementById("comparison");

const countRequest = requestCounter();
/** Compare two pinned candidates and lead there if the user has just pinned them; with fewer, clear the comparison. */
export async function comparePinned(pinned, isAwaited) {
  const isNewest = countRequest();
  if (pinned.length < 2) { place.replaceChildren(); return; }
  const [a, b] = pinned, found = await api("POST", `/tables/${table}/candidates/compare`, { a: a.id, b: b.id });
  if (!isNewest()) return;
  const title = make("h3", {}, "Side by side");
  place.replaceChildren(title, numbersTable(found, a, b), distributionsElement(found, a, b), rowsElement(a, b));
  if (isAwaited) focusOn(title);
}

const WHOLE = ["smallest class", "rows left out", "columns left out"], PLAIN = ["information loss"];

/** A number of the comparison in its format: a count, a plain number, or a percentage. */
export function formatNumber(name, value) {
  if (value === null) return "–";
  if (WHOLE.includes(name)) return count(value);
  return PLAIN.includes(name) ? String(Number(value.toPrecision(3))) : percent(value);
}

function numbersTable(found, a, b) {
  return scrollingTable("Numbers side by side", { class: "change" }, "Numbers; the better one is bold",
    [make("th", { scope: "col" }, "what"), ...[a, b].map((one) => make("th", { scope: "col", class: "number" }, make("bdi", {}, shorten(one.name))))],
    found.numbers.map((one) => make("tr", {}, make("th", { scope: "row" }, one.name), ["a", "b"].map((side) => make("td", { class: `number ${one.better === side ? "better" : ""}` }, formatNumber(one.name, one[side]))))));
}

/** Bars of a distribution in the original and in both candidates. */
function barsElement(one) {
  const most = Math.max(...one.original, ...one.a, ...one.b, 1e-9);
  return make("div", { class: "strips", "aria-hidden": "true" }, one.groups.map((group, index) => {
    const column = make("span", { title: shorten(String(group)) }, ["original", "a", "b"].map((side) => make("i", { class: side })));
    ["original", "a", "b"].forEach((side, place) => { column.children[place].style.height = `${100 * one[side][index] / most}%`; });
    return column;
  }));
}

function distributionsElement(found, a, b) {
  const key = [["original", "the original"], ["a", shorten(a.name)], ["b", shorten(b.name)]];
  const legend = make("p", { class: "small soft" }, key.map(([side, words]) => make("span", { class: `key ${side}` }, words)));
  return make("div", {}, legend, make("div", { class: "sides small" }, found.columns.map((one) => make("figure", {}, make("figcaption", {}, make("b", {}, make("bdi", {}, shorten(one.column, 40))),
    make("p", {}, `Rows that would have to move: ${percent(one.distance_a)} in the first, ${percent(one.distance_b)} in the second.`)), barsElement(one)))));
}

/** The first twenty rows of both, masked until the user shows the values, with changed cells marked. */
function rowsElement(a, b) {
  const box = make("details", {}, make("summary", {}, "Twenty rows of each")), inside = make("div");
  let show = false;
  const button = labelValues(make("button", { type: "button", onclick: () => { show = !show; labelValues(button, show); draw().catch(showProblem); } }), show);
  const draw = async () => {
    const both = [], wanted = show;
    for (const one of [a, b]) both.push(await api("POST", `/jobs/${one.id}/rows`, { rows: 20, start: 0, show: wanted }));
    if (wanted !== show) return;
    inside.replaceChildren(...both.map((found, place) => scrollingTable(`Rows of ${shorten([a, b][place].name, 30)}`, { class: "rows" }, [make("bdi", {}, shorten([a, b][place].name, 40)), ": changed cells are marked"],
      found.columns.map((name) => make("th", { scope: "col" }, make("bdi", {}, shorten(name, 24)))),
      found.rows.map((row) => make("tr", {}, row.after.map((cell, index) => make("td", { class: row.changed[index] ? "changed" : "" }, make("bdi", {}, shorten(releasedInWords(cell), 40)))))))));
  };
  box.append(make("p", {}, button), inside);
  box.addEventListener("toggle", () => { if (box.open) draw().catch(showProblem); });
  return box;
}
