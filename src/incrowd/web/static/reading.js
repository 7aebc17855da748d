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

/** Texts that stand for a missing value: of this column (97-99 is a range), and of every column of the file. */
export function missingOf(column) {
  if (!bench.takesNull) return null;
  const codes = (text) => [...new Set(text.split(",").map((word) => word.trim()).filter(Boolean))];
  const stated = (bench.reading.null ?? "").split(";").filter(Boolean), mine = `${column.name}=`;
  const everywhere = codes(stated.filter((group) => !group.includes("=")).join(",")), others = stated.filter((group) => group.includes("=") && !group.startsWith(mine));
  const own = codes(stated.filter((group) => group.startsWith(mine)).map((group) => group.slice(mine.length)).join(","));
  const set = (all, single) => change({ null: [all.join(","), ...others, single.length ? mine + single.join(",") : ""].filter(Boolean).join(";") || null }, "Missing values are read anew.");
  const field = (id, value, words, take) => make("label", { for: id }, "Missing codes ", make("small", {}, words), make("input", { id, value: value.join(", "), autocomplete: "off", placeholder: "none", maxlength: "900", onchange: (event) => take(codes(event.target.value)) }));
  const open = column.missing_codes.map(String).filter((code) => !own.includes(code) && !everywhere.includes(code));
  const taken = open.length ? make("button", { type: "button", class: "quiet", onclick: () => set(everywhere, [...own, ...open]) }, `${open.join(", ")} ${open.length > 1 ? "are" : "is"} missing`) : null;
  return make("div", { class: "missing" }, field("missing", own, "in this column, such as -9, 97-99", (single) => set(everywhere, single)), taken, field("missing-everywhere", everywhere, "in every column of the file", (all) => set(all, own)));
}
