// The dialog for the hierarchy of a column, by cut points, groups of values, a rule or a file, and for its importance.
import { announce, api, count, debounced, make, requestCounter, saveAs, shorten, showProblem, table } from "./app.js";
import { parseNumber } from "./numbers.js";
import { bench, knownColumns, onChange, saveAndUse } from "./bench.js";
import { cutEditor } from "./cut-editor.js";
import { fromRule, toRule } from "./cuts.js";
import { groupEditor } from "./group-editor.js";
import { WAYS, coarseningInWords, valueFor, wayOf, waysOf, withValue } from "./ways.js";

const list = document.getElementById("coarsened"), dialog = document.getElementById("coarsening");
const countRequest = requestCounter();
let column = null, state = null;

/** Request the levels of the column under a hierarchy. */
const requestHierarchy = (more) => api("POST", `/tables/${table}/columns/hierarchy`, { column: column.name, ...more });

/** The hierarchy in the dialog as a request; null if the method chooses. */
function editedHierarchy() {
  if (state.way === "cuts") return state.cuts.length ? { hierarchy: toRule(state.cuts, state.days) } : null;
  if (state.way === "groups" && state.groups !== null) return state.groups.length ? { groups: state.groups, rest: state.rest || null } : null;
  if (["file", "groups"].includes(state.way)) return state.rows ? { hierarchy: state.rows } : null;
  if (["dates", "places", "auto"].includes(state.way)) return { hierarchy: state.way };
  const text = state.text.replace(/\s/g, "");
  return state.way && text ? { hierarchy: { widths: "", quantiles: "quantiles:", prefix: "prefix:" }[state.way] + text } : null;
}

/** Describe each level: the number of parts and the smallest one. */
const preview = debounced(async () => {
  const isNewest = countRequest(), said = dialog.querySelector(".made"), question = editedHierarchy();
  dialog.querySelector(".save-file").disabled = question === null;
  if (question === null) { said.textContent = state.way ? "Nothing is set yet: until then as the method makes it." : "As the method makes it."; return; }
  try {
    const found = await requestHierarchy(question);
    if (isNewest()) said.textContent = found.levels.map((level, place) => `Level ${place + 1}: ${count(level.parts)} ${level.parts === 1 ? "part" : "parts"}, the smallest of ${count(level.smallest)} rows.`).join(" ") || "Nothing is joined: every value stays as it is.";
  } catch (error) { if (isNewest()) said.textContent = error.message; }
}, 120);

/** Save the hierarchy and the importance in the settings, and close the dialog. */
async function apply(event) {
  event.preventDefault();
  const wrong = dialog.querySelector(".wrong-importance");
  try {
    const question = editedHierarchy(), mine = column.name;
    const weight = parseNumber(dialog.querySelector("#importance").value);
    if (weight !== null && !(weight >= 0 && weight <= 1e12)) throw new Error("Importance is from 0 to 1,000,000,000,000.");
    const along = question === null ? null : (await requestHierarchy(question)).hierarchy;
    if (!dialog.open || column.name !== mine) return; // the dialog was closed, or opened for another column
    const importance = withValue(bench.settings.protection.importance, mine, weight === 1 ? null : weight), hierarchies = withValue(bench.settings.protection.hierarchies, mine, along);
    await saveAndUse({ protection: { hierarchies, importance } }); // a refusal leaves the dialog as it is
    announce(`${shorten(mine, 40)}: ${coarseningInWords(valueFor(hierarchies, mine), valueFor(importance, mine))}.`);
    dialog.close();
  } catch (error) { wrong.textContent = error.message; }
}

/** Download the hierarchy as a file in ARX's layout, with every value of the column. */
async function saveFile() {
  try {
    const { csv } = await requestHierarchy({ ...editedHierarchy(), csv: true });
    saveAs(`${shorten(column.name, 40).replace(/[^\w-]+/g, "-")}-hierarchy.csv`, new Blob([csv], { type: "text/csv" }));
  } catch (error) { dialog.querySelector(".wrong-importance").textContent = error.message; }
}

async function loadFile(event) {
  const wrong = dialog.querySelector(".wrong-importance");
  try {
    const found = await requestHierarchy({ text: await event.target.files[0].text() });
    Object.assign(state, { rows: found.hierarchy });
    wrong.textContent = "";
    preview();
  } catch (error) { wrong.textContent = error.message; }
}

/** Draw the fields of the chosen kind of hierarchy. */
async function drawWay() {
  const place = dialog.querySelector(".way"), field = WAYS[state.way];
  if (state.way === "cuts") {
    const found = await api("POST", `/tables/${table}/columns/histogram`, { column: column.name, bins: 40, round_axis: true });
    place.replaceChildren(cutEditor(found, { days: state.days, whole: column.type === "integer", cuts: state.cuts, changed: (cuts) => { state.cuts = cuts; preview(); } }));
  } else if (state.way === "groups") {
    const show = async () => {
      const found = await requestHierarchy({ hierarchy: Array.isArray(state.kept) ? state.kept : null, show: true });
      place.replaceChildren(groupEditor(found, (groups, rest) => { Object.assign(state, { groups, rest }); preview(); }));
    };
    place.replaceChildren(make("p", { class: "small" }, "Groups are made of the values themselves, which are hidden until you ask."), make("button", { type: "button", class: "show-values", onclick: () => show().catch(showProblem) }, "Show the values"));
  } else if (state.way === "file") {
    place.replaceChildren(make("label", { for: "hierarchy-file" }, "A file in ARX's layout ", make("small", {}, "(value;label;coarser label, a line for each value)")), make("input", { type: "file", id: "hierarchy-file", accept: ".csv,.txt,text/csv", onchange: loadFile }));
  } else if (field?.label) {
    place.replaceChildren(make("label", { for: "way-text" }, field.label), make("input", { id: "way-text", value: state.text, placeholder: field.example, autocomplete: "off", oninput: (event) => { state.text = event.target.value; preview(); } }));
  } else place.replaceChildren();
  preview();
}

/** Open the dialog for a column. */
async function openEditor(name) {
  column = bench.columns.find((one) => one.name === name);
  const kept = valueFor(bench.settings.protection.hierarchies, name) ?? null, days = column.scale === "date";
  const ways = waysOf(column);
  state = { kept, days, way: wayOf(kept), cuts: typeof kept === "string" && kept.startsWith("cuts:") ? fromRule(kept, days) : [], text: typeof kept === "string" ? kept.replace(/^(quantiles|prefix):/, "") : "", rows: Array.isArray(kept) ? kept : null, groups: null, rest: "" };
  const choice = make("select", { id: "way", onchange: (event) => { state.way = event.target.value; if (WAYS[state.way].label) state.text = ""; drawWay().catch(showProblem); } }, ways.map(([value, { words }]) => make("option", { value, selected: value === state.way }, words)));
  dialog.replaceChildren(make("form", { method: "dialog", onsubmit: apply },
    make("h2", { id: "coarsening-title" }, "How ", make("bdi", {}, shorten(name, 60)), " is made coarser"),
    make("label", { for: "way" }, "Along"), choice, make("div", { class: "way" }), make("p", { class: "made small", "aria-live": "polite" }, ""),
    make("label", { for: "importance" }, "Importance ", make("small", {}, "(1 as the others, 0: may vanish)")), make("input", { id: "importance", inputmode: "decimal", autocomplete: "off", placeholder: "1", value: valueFor(bench.settings.protection.importance, name) ?? "" }),
    make("p", { class: "wrong wrong-importance small", role: "alert" }),
    make("p", { class: "row" }, make("button", { type: "submit", class: "main" }, "Use this"), make("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), make("button", { type: "button", class: "quiet save-file", disabled: true, onclick: saveFile }, "Save as a file"))));
  dialog.showModal();
  await drawWay();
}

function draw() {
  const { hierarchies, importance } = bench.settings.protection;
  list.replaceChildren(...knownColumns().map((name) => make("li", {}, make("button", { type: "button", class: "quiet", "data-column": name, onclick: () => openEditor(name).catch(showProblem) },
    make("bdi", {}, shorten(name, 30)), make("small", {}, coarseningInWords(valueFor(hierarchies, name), valueFor(importance, name)))))));
}
onChange("settings", draw);
document.addEventListener("coarsen", (event) => openEditor(event.detail).catch(showProblem));
