// Fields for the reading options of columns: their scale, and texts that mean a missing value.
import { announce, api, make, shorten, showProblem, table } from "./app.js";
import { allSaved, bench, reloadTable } from "./bench.js";
import { SCALES, sharedScale } from "./scales.js";

/** Read the file again with changed options; decisions about columns stay. */
async function changeReading(changes, words) {
  try {
    if (await allSaved()) {
      announce("Reading the file again…");
      await api("PATCH", `/tables/${table}/reading`, changes);
      announce(words);
    }
  } catch (error) { showProblem(error); }
  await reloadTable();
}

/** The list of scales for one or several columns. */
export function scaleField(columns) {
  const names = columns.map((column) => column.name), now = sharedScale(columns);
  const words = (scale) => (columns.length === 1 && columns[0].scale_suggested === scale ? `${SCALES[scale]} (suggested)` : SCALES[scale]);
  const set = (event) => {
    event.target.disabled = true;
    const scale = event.target.value || null;
    changeReading({ scales: Object.fromEntries(names.map((name) => [name, scale])) }, `${names.length > 1 ? `${names.length} columns` : shorten(names[0], 40)}: ${scale ?? "as the file has it"}.`);
  };
  const levels = now.startsWith("<") ? make("option", { value: now.slice(1), selected: true }, "ordered, as stated") : null;
  return make("label", { class: "scale" }, "Scale ", make("select", { id: "scale", onchange: set },
    make("option", { value: "", selected: now === "" }, columns.length === 1 && now === "" ? `${columns[0].scale} (as the file has it)` : "as the file has it"),
    now === "mixed" ? make("option", { value: "mixed", selected: true, disabled: true }, "several") : null, levels,
    Object.keys(SCALES).map((scale) => make("option", { value: scale, selected: scale === now }, words(scale)))));
}

/** A switch that joins spellings, in every column of text. */
export function spellingsField() {
  const set = (event) => changeReading({ fold: event.target.checked || null }, event.target.checked ? "Spellings are joined." : "Spellings are kept apart.");
  return make("label", { class: "choice" }, make("input", { type: "checkbox", id: "fold", checked: bench.reading.fold, onchange: set }), make("span", {}, "Join spellings that differ only in case, blanks or accents ", make("small", {}, "in every column of text")));
}

/** Fields for texts that mean a missing value: in this column (97-99 is a range), and in all columns of the file. */
export function missingCodesFields(column) {
  if (!bench.takesNull) return null;
  const codes = (text) => [...new Set(text.split(",").map((word) => word.trim()).filter(Boolean))];
  const stated = (bench.reading.null ?? "").split(";").filter(Boolean), mine = `${column.name}=`;
  const everywhere = codes(stated.filter((group) => !group.includes("=")).join(",")), others = stated.filter((group) => group.includes("=") && !group.startsWith(mine));
  const own = codes(stated.filter((group) => group.startsWith(mine)).map((group) => group.slice(mine.length)).join(","));
  const set = (all, single) => changeReading({ null: [all.join(","), ...others, single.length ? mine + single.join(",") : ""].filter(Boolean).join(";") || null }, "Missing values are read anew.");
  const field = (id, value, words, take) => make("label", { for: id }, "Missing codes ", make("small", {}, words), make("input", { id, value: value.join(", "), autocomplete: "off", placeholder: "none", maxlength: "900", onchange: (event) => take(codes(event.target.value)) }));
  const open = column.missing_codes.map(String).filter((code) => !own.includes(code) && !everywhere.includes(code));
  const taken = open.length ? make("button", { type: "button", class: "quiet", onclick: () => set(everywhere, [...own, ...open]) }, `${open.join(", ")} ${open.length > 1 ? "are" : "is"} missing`) : null;
  return make("div", { class: "missing" }, field("missing", own, "in this column, such as -9, 97-99", (single) => set(everywhere, single)), taken, field("missing-everywhere", everywhere, "in every column of the file", (all) => set(all, own)));
}
