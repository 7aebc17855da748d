// How single columns are made coarser: cut points, groups of values, rules, files; and how much a column matters.
import { api, count, make, problem, say, settled, short, table, written } from "./app.js";
import { bench, known, on, put } from "./bench.js";
import { cutEditor } from "./cut-editor.js";
import { fromRule, toRule } from "./cuts.js";
import { groupEditor } from "./group-editor.js";
import { WAYS, inWords, setFor, wayOf, waysOf, withSet } from "./ways.js";

const list = document.getElementById("coarsened"), dialog = document.getElementById("coarsening");
let column = null, state = null, asked = 0;

/** Ask what a hierarchy makes of the column. */
const view = (more) => api("POST", `/tables/${table}/columns/hierarchy`, { column: column.name, ...more });

/** What the editor holds now, as the server takes it; null where the column is left to the method. */
function wanted() {
  if (state.way === "cuts") return state.cuts.length ? { hierarchy: toRule(state.cuts, state.days) } : null;
  if (state.way === "groups" && state.groups !== null) return state.groups.length ? { groups: state.groups, rest: state.rest || null } : null;
  if (["file", "groups"].includes(state.way)) return state.rows ? { hierarchy: state.rows } : null;
  if (["dates", "places", "auto"].includes(state.way)) return { hierarchy: state.way };
  const text = state.text.replace(/\s/g, "");
  return state.way && text ? { hierarchy: { widths: "", quantiles: "quantiles:", prefix: "prefix:" }[state.way] + text } : null;
}

/** Say what comes of it: parts and the smallest of them, level by level. */
const preview = settled(async () => {
  const mine = ++asked, said = dialog.querySelector(".made"), question = wanted();
  dialog.querySelector(".save-file").disabled = question === null;
  if (question === null) { said.textContent = state.way ? "Nothing is set yet: until then as the method makes it." : "As the method makes it."; return; }
  try {
    const found = await view(question);
    if (mine === asked) said.textContent = found.levels.map((level, place) => `Level ${place + 1}: ${count(level.parts)} ${level.parts === 1 ? "part" : "parts"}, the smallest of ${count(level.smallest)} rows.`).join(" ") || "Nothing is joined: every value stays as it is.";
  } catch (error) { if (mine === asked) said.textContent = error.message; }
}, 120);

/** Keep what was edited as the library's own options, and close. */
async function apply(event) {
  event.preventDefault();
  const wrong = dialog.querySelector(".wrong-importance");
  try {
    const question = wanted(), mine = column.name;
    const weight = written(dialog.querySelector("#importance").value);
    if (weight !== null && weight < 0) throw new Error("Importance is 0 or more.");
    const along = question === null ? null : (await view(question)).hierarchy;
    if (!dialog.open || column.name !== mine) return; // closed, or another column's by now
    const importance = withSet(bench.now.protection.importance, mine, weight === 1 ? null : weight), hierarchies = withSet(bench.now.protection.hierarchies, mine, along);
    put({ protection: { ...bench.now.protection, hierarchies, importance } }, { protection: { hierarchies, importance } });
    say(`${short(mine, 40)}: ${inWords(setFor(hierarchies, mine), setFor(importance, mine))}.`);
    dialog.close();
  } catch (error) { wrong.textContent = error.message; }
}

/** The hierarchy as a file in ARX's layout, with every value of the column. */
async function saveFile() {
  try {
    const { csv } = await view({ ...wanted(), csv: true }), address = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    make("a", { href: address, download: `${short(column.name, 40).replace(/[^\w-]+/g, "-")}-hierarchy.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  } catch (error) { dialog.querySelector(".wrong-importance").textContent = error.message; }
}

async function loadFile(event) {
  const wrong = dialog.querySelector(".wrong-importance");
  try {
    const found = await view({ text: await event.target.files[0].text() });
    Object.assign(state, { rows: found.hierarchy });
    wrong.textContent = "";
    preview();
  } catch (error) { wrong.textContent = error.message; }
}

/** The part of the editor that the chosen way needs. */
async function drawWay() {
  const place = dialog.querySelector(".way"), field = WAYS[state.way];
  if (state.way === "cuts") {
    const found = await api("POST", `/tables/${table}/columns/histogram`, { column: column.name, bins: 40, round_axis: true });
    place.replaceChildren(cutEditor(found, { days: state.days, whole: column.type === "integer", cuts: state.cuts, changed: (cuts) => { state.cuts = cuts; preview(); } }));
  } else if (state.way === "groups") {
    const show = async () => {
      const found = await view({ hierarchy: Array.isArray(state.kept) ? state.kept : null, show: true });
      place.replaceChildren(groupEditor(found, (groups, rest) => { Object.assign(state, { groups, rest }); preview(); }));
    };
    place.replaceChildren(make("p", { class: "small" }, "Groups are made of the values themselves, which are hidden until you ask."), make("button", { type: "button", class: "show-values", onclick: () => show().catch(problem) }, "Show the values"));
  } else if (state.way === "file") {
    place.replaceChildren(make("label", { for: "hierarchy-file" }, "A file in ARX's layout ", make("small", {}, "(value;label;coarser label, a line for each value)")), make("input", { type: "file", id: "hierarchy-file", accept: ".csv,.txt,text/csv", onchange: loadFile }));
  } else if (field?.label) {
    place.replaceChildren(make("label", { for: "way-text" }, field.label), make("input", { id: "way-text", value: state.text, placeholder: field.example, autocomplete: "off", oninput: (event) => { state.text = event.target.value; preview(); } }));
  } else place.replaceChildren();
  preview();
}

/** Open the editor of a column. */
async function edit(name) {
  column = bench.columns.find((one) => one.name === name);
  const kept = setFor(bench.now.protection.hierarchies, name) ?? null, days = column.scale === "date";
  const ways = waysOf(column);
  state = { kept, days, way: wayOf(kept), cuts: typeof kept === "string" && kept.startsWith("cuts:") ? fromRule(kept, days) : [], text: typeof kept === "string" ? kept.replace(/^(quantiles|prefix):/, "") : "", rows: Array.isArray(kept) ? kept : null, groups: null, rest: "" };
  const choice = make("select", { id: "way", onchange: (event) => { state.way = event.target.value; if (WAYS[state.way].label) state.text = ""; drawWay().catch(problem); } }, ways.map(([value, { words }]) => make("option", { value, selected: value === state.way }, words)));
  dialog.replaceChildren(make("form", { method: "dialog", onsubmit: apply },
    make("h2", { id: "coarsening-title" }, "How ", make("bdi", {}, short(name, 60)), " is made coarser"),
    make("label", { for: "way" }, "Along"), choice, make("div", { class: "way" }), make("p", { class: "made small", "aria-live": "polite" }, ""),
    make("label", { for: "importance" }, "Importance ", make("small", {}, "(1 as the others, 0: may vanish)")), make("input", { id: "importance", inputmode: "decimal", autocomplete: "off", placeholder: "1", value: setFor(bench.now.protection.importance, name) ?? "" }),
    make("p", { class: "wrong wrong-importance small", role: "alert" }),
    make("p", { class: "row" }, make("button", { type: "submit", class: "main" }, "Use this"), make("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), make("button", { type: "button", class: "quiet save-file", disabled: true, onclick: saveFile }, "Save as a file"))));
  dialog.showModal();
  await drawWay();
}

function draw() {
  const { hierarchies, importance } = bench.now.protection;
  list.replaceChildren(...known().map((name) => make("li", {}, make("button", { type: "button", class: "quiet", "data-column": name, onclick: () => edit(name).catch(problem) },
    make("bdi", {}, short(name, 30)), make("small", {}, inWords(setFor(hierarchies, name), setFor(importance, name)))))));
}
on("settings", draw);
document.addEventListener("coarsen", (event) => edit(event.detail).catch(problem));
