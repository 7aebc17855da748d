// How columns are read: their scale, and texts that stand for a missing value. Changing one leaves the rest as it is.
import { api, make, problem, say, short, table } from "./app.js";
import { allKept, bench, reopen } from "./bench.js";
import { SCALES, sharedScale } from "./scales.js";

/** Read the file again with a change; decisions about columns stay. */
async function change(changes, words) {
  try {
    if (await allKept()) {
      say("Reading the file again…");
      await api("PATCH", `/tables/${table}/reading`, changes);
      say(words);
    }
  } catch (error) { problem(error); }
  await reopen();
}

/** The scale of one or several columns, as a choice. */
export function scaleOf(columns) {
  const names = columns.map((column) => column.name), now = sharedScale(columns);
  const words = (scale) => (columns.length === 1 && columns[0].scale_suggested === scale ? `${SCALES[scale]} (suggested)` : SCALES[scale]);
  const set = (event) => {
    event.target.disabled = true;
    const scale = event.target.value || null;
    change({ scales: Object.fromEntries(names.map((name) => [name, scale])) }, `${names.length > 1 ? `${names.length} columns` : short(names[0], 40)}: ${scale ?? "as the file has it"}.`);
  };
  const levels = now.startsWith("<") ? make("option", { value: now.slice(1), selected: true }, "ordered, as stated") : null;
  return make("label", { class: "scale" }, "Scale ", make("select", { id: "scale", onchange: set },
    make("option", { value: "", selected: now === "" }, columns.length === 1 && now === "" ? `${columns[0].scale} (as the file has it)` : "as the file has it"),
    now === "mixed" ? make("option", { value: "mixed", selected: true, disabled: true }, "several") : null, levels,
    Object.keys(SCALES).map((scale) => make("option", { value: scale, selected: scale === now }, words(scale)))));
}

/** Texts that stand for a missing value: of the whole file, for that is how it is read. */
export function missingOf(column) {
  if (!bench.takesNull) return null;
  const now = (bench.reading.null ?? "").split(",").map((word) => word.trim()).filter(Boolean);
  const set = (words) => change({ null: [...new Set(words)].join(",") || null }, "Missing values are read anew.");
  const field = make("input", { id: "missing", value: now.join(", "), autocomplete: "off", placeholder: "none", maxlength: "90", onchange: (event) => set(event.target.value.split(",").map((word) => word.trim()).filter(Boolean)) });
  const open = column.missing_codes.map(String).filter((code) => !now.includes(code));
  const taken = open.length ? make("button", { type: "button", class: "quiet", onclick: () => set([...now, ...open]) }, `${open.join(", ")} ${open.length > 1 ? "are" : "is"} missing`) : null;
  return make("div", { class: "missing" }, make("label", { for: "missing" }, "Missing codes ", make("small", {}, "in every column of the file")), make("div", { class: "row" }, field, taken));
}
