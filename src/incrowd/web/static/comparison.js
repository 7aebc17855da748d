// Two candidates side by side: numbers, distributions, and rows with what was changed.
import { api, count, make, percent, problem, short, table, turns } from "./app.js";

const place = document.getElementById("comparison");

const asked = turns();
/** Compare two pinned candidates; with fewer there is nothing to compare. */
export async function comparePinned(pinned) {
  const isNewest = asked();
  if (pinned.length < 2) { place.replaceChildren(); return; }
  const [a, b] = pinned, found = await api("POST", `/tables/${table}/candidates/compare`, { a: a.id, b: b.id });
  if (isNewest()) place.replaceChildren(make("h3", {}, "Side by side"), numbers(found, a, b), distributions(found, a, b), rowsOf(a, b));
}

const WHOLE = ["smallest class", "rows left out", "columns left out"], PLAIN = ["information loss"];

/** A number as it is read: people are counted, shares are percentages. */
export function written(name, value) {
  if (value === null) return "–";
  if (WHOLE.includes(name)) return count(value);
  return PLAIN.includes(name) ? String(Number(value.toPrecision(3))) : percent(value);
}

function numbers(found, a, b) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Numbers side by side" }, make("table", { class: "change" }, make("caption", {}, "Numbers; the better one is bold"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "what"), [a, b].map((one) => make("th", { scope: "col", class: "number" }, make("bdi", {}, short(one.name)))))),
    make("tbody", {}, found.numbers.map((one) => make("tr", {}, make("th", { scope: "row" }, one.name), ["a", "b"].map((side) => make("td", { class: `number ${one.better === side ? "better" : ""}` }, written(one.name, one[side]))))))));
}

/** Bars of a distribution: before, and in each of the two. */
function bars(one) {
  const most = Math.max(...one.original, ...one.a, ...one.b, 1e-9);
  return make("div", { class: "strips", "aria-hidden": "true" }, one.groups.map((group, index) => {
    const column = make("span", { title: short(String(group)) }, ["original", "a", "b"].map((side) => make("i", { class: side })));
    ["original", "a", "b"].forEach((side, place) => { column.children[place].style.height = `${100 * one[side][index] / most}%`; });
    return column;
  }));
}

function distributions(found, a, b) {
  const key = [["original", "the original"], ["a", short(a.name)], ["b", short(b.name)]];
  const legend = make("p", { class: "small soft" }, key.map(([side, words]) => make("span", { class: `key ${side}` }, words)));
  return make("div", {}, legend, make("div", { class: "sides small" }, found.columns.map((one) => make("figure", {}, make("figcaption", {}, make("b", {}, make("bdi", {}, short(one.column, 40))),
    make("p", {}, `Rows that would have to move: ${percent(one.distance_a)} in the first, ${percent(one.distance_b)} in the second.`)), bars(one)))));
}

/** Twenty rows of each, masked until asked, with the cells that were changed marked. */
function rowsOf(a, b) {
  const box = make("details", {}, make("summary", {}, "Twenty rows of each")), inside = make("div");
  let show = false;
  const button = make("button", { type: "button", "aria-pressed": "false", onclick: () => { show = !show; button.setAttribute("aria-pressed", String(show)); button.textContent = show ? "Hide the values" : "Show the values"; draw().catch(problem); } }, "Show the values");
  const draw = async () => {
    const both = [], wanted = show;
    for (const one of [a, b]) both.push(await api("POST", `/jobs/${one.id}/rows`, { rows: 20, start: 0, show: wanted }));
    if (wanted !== show) return;
    inside.replaceChildren(...both.map((found, place) => make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Rows of ${short([a, b][place].name, 30)}` }, make("table", { class: "rows" },
      make("caption", {}, make("bdi", {}, short([a, b][place].name, 40)), ": changed cells are marked"),
      make("thead", {}, make("tr", {}, found.columns.map((name) => make("th", { scope: "col" }, make("bdi", {}, short(name, 24)))))),
      make("tbody", {}, found.rows.map((row) => make("tr", {}, row.after.map((cell, index) => make("td", { class: row.changed[index] ? "changed" : "" }, make("bdi", {}, short(String(cell), 40)))))))))));
  };
  box.append(make("p", {}, button), inside);
  box.addEventListener("toggle", () => { if (box.open) draw().catch(problem); });
  return box;
}
