// The kinds of hierarchies of a column, and their descriptions.

/** By kind of hierarchy: its description, the kinds of columns that can have it, and its field. */
export const WAYS = {
  "": { words: "whatever the method makes of it", of: ["numeric", "date", "place", "values"] },
  cuts: { words: "cut points", of: ["numeric", "date"] },
  widths: { words: "ranges of equal width", of: ["numeric"], label: "Widths, one for each level", example: "5, 10, 20" },
  quantiles: { words: "ranges of equally many rows", of: ["numeric"], label: "How many ranges at first", example: "10" },
  dates: { words: "months, quarters, years, decades", of: ["date"] },
  groups: { words: "groups of values", of: ["place", "values"] },
  places: { words: "the levels of its code", of: ["place"] },
  prefix: { words: "its first characters", of: ["place", "values"], label: "How many characters stay, one number for each level", example: "3, 1" },
  auto: { words: "levels built from the data", of: ["numeric", "place", "values"] },
  file: { words: "a hierarchy from a file", of: ["numeric", "date", "place", "values"] },
};

/** The kinds of hierarchies that a column can have, by its scale and its suggested scale, since numbers may be codes. */
export function waysOf({ scale, scale_suggested: suggested }) {
  const kinds = [scale, suggested ?? scale].map((one) => (["numeric", "date", "place"].includes(one) ? one : "values"));
  return Object.entries(WAYS).filter(([, way]) => kinds.some((kind) => way.of.includes(kind)));
}

/** The setting of a column; a plain lookup would fail for a column with the name of an object's method. */
export const valueFor = (given, name) => (Object.hasOwn(given, name) ? given[name] : undefined);

/** Settings by column with a new value for one column; null removes it. */
export const withValue = (given, name, value) => Object.fromEntries([...Object.entries(given).filter(([other]) => other !== name), ...(value === null ? [] : [[name, value]])]);

/** The kind of a hierarchy, which is a rule of the library, rows, or none. */
export function wayOf(hierarchy) {
  if (hierarchy === null || hierarchy === undefined) return "";
  if (Array.isArray(hierarchy)) return hierarchy[0].length > 2 ? "file" : "groups";
  const [rule] = hierarchy.split(":");
  return /^\d/.test(rule) ? "widths" : rule;
}

/** A hierarchy and an importance in words. */
export function coarseningInWords(hierarchy, importance) {
  const way = wayOf(hierarchy), numbers = typeof hierarchy === "string" ? hierarchy.replace(/^[a-z]+:?/, "").replaceAll("/", " / ").replaceAll(",", ", ") : "";
  const rows = Array.isArray(hierarchy) ? ` (${new Set(hierarchy.map((row) => row[1])).size})` : "";
  const first = way === "" ? "as the method makes it" : `${WAYS[way].words}${numbers ? `: ${numbers}` : rows}`;
  return importance === undefined ? first : `${first}; importance ${importance}`;
}

/** True if two protections are the same in any order of columns. A column equals a list of it alone; naming no diverse column means all secrets. */
export function sameProtection(a, b) {
  const plain = (asked) => {
    const listed = Object.entries({ ...asked, sensitive: [asked.sensitive ?? []].flat() }).map(([name, value]) => [name, Array.isArray(value) && value.every((one) => typeof one === "string") ? [...value].sort() : value]);
    const found = Object.fromEntries(listed);
    if (JSON.stringify(found.diverse) === JSON.stringify(found.sensitive)) found.diverse = [];
    return JSON.stringify(Object.entries(found).filter(([, value]) => value !== null && value !== undefined && !(Array.isArray(value) && !value.length)).sort());
  };
  return plain(a) === plain(b);
}
