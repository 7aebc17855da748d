// The roles of columns, their keys, and the effect of a change of roles on the settings.

export const ROLES = [
  { role: "quasi-identifier", key: "q", words: "Others may know it", short: "known" },
  { role: "sensitive", key: "s", words: "Secret", short: "secret" },
  { role: "identifier", key: "i", words: "Names the person", short: "name" },
  { role: "other", key: "n", words: "Neither known nor secret", short: "neither" },
  { role: "drop", key: "d", words: "Leave it out", short: "drop" },
  { role: "person", key: "p", words: "Whose record it is", short: "person" },
  { role: "weight", key: "w", words: "Sampling weight", short: "weight" },
];
const SINGLE_ROLES = ["person", "weight"]; // at most one column has such a role

export const withRole = (columns, settings, role) => columns.filter((column) => settings.roles[column.name] === role).map((column) => column.name);
export const undecided = (columns, settings) => columns.filter((column) => !settings.decided.includes(column.name)).map((column) => column.name);

/** How many columns a count is made by while it leaves out undecided ones, which the verdict takes as known; in few words for a tile. Empty otherwise. */
export function countedBy(columns, settings, { short = false } = {}) {
  const known = withRole(columns, settings, "quasi-identifier"), left = undecided(columns, settings), open = left.every((name) => known.includes(name)) ? 0 : left.length, number = (value) => value.toLocaleString("en-US");
  const of = `by ${number(known.length)} of ${number(columns.length)}`;
  return !open ? "" : short ? `${of}; ${number(open)} undecided` : `${of} columns; ${number(open)} not decided`;
}

/** The undecided columns with a reason for their role; for “other” without a reason, a person must decide. */
export const withReason = (columns, settings) => undecided(columns.filter(({ name, suggested, confidence }) => settings.roles[name] !== "other" || (suggested === "other" && confidence !== "low")), settings);
/** The role of a column in its row, and what a screen reader adds; without a reason for its role, it says “decide”. */
export function roleInWords(column, settings) {
  const { short } = ROLES.find(({ role }) => role === settings.roles[column.name]);
  if (settings.decided.includes(column.name)) return [short];
  return withReason([column], settings).length ? [short, ", only suggested"] : ["decide", ", nothing is suggested"];
}
/** Who gave a column its role, and why it is suggested. */
export function reasonInWords(column, settings) {
  if (settings.decided.includes(column.name)) return "As you said.";
  return `${withReason([column], settings).length ? "Only suggested" : "Nothing is suggested"}: ${column.reason}.`;
}
/** The columns that others may come to know: all but those that are removed, and the person and weight columns. */
export const mayBeKnown = (columns, settings) => columns.map(({ name }) => name).filter((name) => !settings.decided.includes(name) || ["quasi-identifier", "sensitive", "other"].includes(settings.roles[name]));

/** The groups with columns; empty ones are not saved. */
export const filledGroups = (groups) => Object.fromEntries(Object.entries(groups || {}).filter(([, members]) => members.length));

/** Confirm the suggested roles of those of these columns that have a reason; null if none has. */
export function confirmRoles(columns, settings, chosen) {
  const names = withReason(columns.filter(({ name }) => chosen.includes(name)), settings);
  return names.length === 0 ? null : { changes: { decided: [...new Set([...settings.decided, ...names])] }, kept: { decided: names } };
}

/** A protection of all sensitive columns, updated to those of the new roles, as on the server; of other columns it is unchanged. */
export function followSecrets(columns, settings, roles) {
  const asked = settings.protection, chosen = asked?.sensitive ? [asked.sensitive].flat() : [];
  const of = (now) => withRole(columns, { roles: now }, "sensitive").filter((name) => !asked?.leave_out?.includes(name)), was = of(settings.roles), secrets = of(roles);
  if (!was.length || chosen.length !== was.length || !was.every((name) => chosen.includes(name))) return asked;
  return secrets.length ? { ...asked, sensitive: secrets, diverse: (asked.diverse ?? []).filter((name) => secrets.includes(name)) } : { ...asked, sensitive: null, l: null, t: null, diverse: [] };
}

/** Give columns a role: the settings that the page shows at once (`changes`) and those to save (`kept`); null if several columns cannot have it. */
export function assignRole(columns, settings, names, role) {
  if (SINGLE_ROLES.includes(role) && names.length > 1) return null;
  const displaced = SINGLE_ROLES.includes(role) ? withRole(columns, settings, role).filter((name) => !names.includes(name)) : [];
  const changed = Object.fromEntries([...displaced.map((name) => [name, "other"]), ...names.map((name) => [name, role])]);
  const roles = Object.fromEntries([...Object.entries(settings.roles), ...Object.entries(changed)]);
  const known = new Set(withRole(columns, { roles }, "quasi-identifier"));
  const groups = Object.fromEntries(Object.entries(settings.groups || {}).map(([label, members]) => [label, members.filter((one) => known.has(one))]));
  const decided = [...settings.decided.filter((name) => !displaced.includes(name) && !names.includes(name)), ...names]; // a displaced column is undecided
  return { changes: { roles, groups, decided, protection: followSecrets(columns, settings, roles) }, kept: { roles: changed, groups: filledGroups(groups), decided: names } };
}
