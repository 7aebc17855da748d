// The list of columns: which are shown, in what order, and which are selected.

/** True if a column passes a filter: all, undecided, or a role. */
function passes(column, settings, filter) {
  if (filter === "all") return true;
  if (filter === "undecided") return !settings.decided.includes(column.name);
  return settings.roles[column.name] === filter;
}

/** The columns to show. All words of `search` must occur in the name, the type or the reason. */
export function shownColumns(columns, settings, { search = "", filter = "all", order = "table", adds = new Map() } = {}) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = columns.filter((column) => passes(column, settings, filter)
    && words.every((word) => `${column.name} ${column.type} ${column.reason}`.toLowerCase().includes(word)));
  if (order === "name") found.sort((a, b) => a.name.localeCompare(b.name));
  if (order === "distinct") found.sort((a, b) => (b.distinct ?? Infinity) - (a.distinct ?? Infinity));
  if (order === "adds") found.sort((a, b) => (adds.get(b.name)?.added_uniques ?? -1) - (adds.get(a.name)?.added_uniques ?? -1));
  return found;
}

/** How many columns each filter would show. */
export function filterCounts(columns, settings, roles) {
  const counted = (filter) => columns.filter((column) => passes(column, settings, filter)).length;
  return Object.fromEntries(["all", "undecided", ...roles].map((filter) => [filter, counted(filter)]));
}

/**
 * The selection after a click or a key. `how`: one (only this name), toggle (add or remove it), range (from the anchor to it), or tick,
 * which is toggle, but starts anew after a mere focus (`focusOnly`): who ticks six boxes means six columns.
 */
export function select({ selected, anchor, focusOnly = false }, names, name, how) {
  if (how === "tick" && focusOnly) return { selected: new Set([name]), anchor: name };
  if (how === "tick" || how === "toggle") {
    const next = new Set(selected);
    if (!next.delete(name)) next.add(name);
    return { selected: next, anchor: name };
  }
  const from = names.indexOf(anchor), to = names.indexOf(name);
  if (how === "range" && from >= 0) return { selected: new Set(names.slice(Math.min(from, to), Math.max(from, to) + 1)), anchor };
  return { selected: new Set([name]), anchor: name, focusOnly: true };
}

/** The name that a key moves to from `name`; at an end the same one. */
export function neighbour(names, name, key) {
  const place = names.indexOf(name), last = names.length - 1;
  const step = { ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + 10, PageUp: place - 10, Home: 0, End: last }[key];
  return names[Math.max(0, Math.min(last, place < 0 ? 0 : step))];
}
