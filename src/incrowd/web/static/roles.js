// Two questions of each column, and the roles that answer them; the effect of an answer on the settings.

export const ROLES = [
  { role: "quasi-identifier", key: "k", words: "Others may know it", short: "known" },
  { role: "sensitive", key: "s", words: "It would harm if learned", short: "sensitive" },
  { role: "both", key: "b", words: "Others may know it, and it would harm if learned", short: "both" },
  { role: "other", key: "n", words: "Neither known nor sensitive", short: "neither" },
  { role: "identifier", key: "i", words: "Names the person", short: "names the person: removed" },
  { role: "person", key: "p", words: "Whose record it is", short: "whose record it is" },
  { role: "weight", key: "w", words: "Sampling weight", short: "sampling weight" },
  { role: "drop", key: "d", words: "Leave it out", short: "left out" },
];
const SINGLE_ROLES = ["person", "weight"]; // at most one column has such a role
const ANSWERED_YES = { "quasi-identifier": ["quasi-identifier", "both"], sensitive: ["sensitive", "both"] };
const QUESTIONED = ["quasi-identifier", "sensitive", "both", "other"]; // roles that answer the two questions

/** The answers of a role to both questions; null for a role that answers neither. */
export const answersOf = (role) => (QUESTIONED.includes(role) ? { known: ANSWERED_YES["quasi-identifier"].includes(role), sensitive: ANSWERED_YES.sensitive.includes(role) } : null);
/** The role of two answers. */
export const roleOf = ({ known, sensitive }) => (known ? (sensitive ? "both" : "quasi-identifier") : sensitive ? "sensitive" : "other");

export const hasRole = (role, wanted) => (ANSWERED_YES[wanted] ?? [wanted]).includes(role);
export const withRole = (columns, settings, role) => columns.filter(({ name }) => hasRole(settings.roles[name], role)).map(({ name }) => name);
export const undecided = (columns, settings) => columns.filter(({ name }) => !settings.decided.includes(name)).map(({ name }) => name);

/** The columns by which people are counted: those known to others, and those that nobody has judged, as on the server. */
export const countedAsKnown = (columns, settings) => columns.filter(({ name, type }) => {
  const role = settings.roles[name];
  return hasRole(role, "quasi-identifier") || (!settings.decided.includes(name) && !["identifier", "person"].includes(role) && !["list", "record", "map"].includes(type));
}).map(({ name }) => name);

/** The undecided columns with a reason for their role; for “other” without a reason, a person must decide. */
export const withReason = (columns, settings) => undecided(columns.filter(({ name, suggested, confidence }) => settings.roles[name] !== "other" || (suggested === "other" && confidence !== "low")), settings);
/** Who gave a column its role, and why it is suggested. */
export function reasonInWords(column, settings) {
  if (settings.decided.includes(column.name)) return "As you said.";
  return `${withReason([column], settings).length ? "Only suggested" : "Nothing is suggested"}: ${column.reason}.`;
}
/** The columns that others may come to know: all but those that are removed, and the person and weight columns. */
export const mayBeKnown = (columns, settings) => columns.map(({ name }) => name).filter((name) => !settings.decided.includes(name) || QUESTIONED.includes(settings.roles[name]));

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
  const of = (now) => columns.map(({ name }) => name).filter((name) => now[name] === "sensitive" && !asked?.leave_out?.includes(name));
  const was = of(settings.roles), secrets = of(roles);
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

const LEAST_IN_FAMILY = 3;
/** The columns in order; those of one stem that differ in a number (q28_1, q28_2, …), with one type and one role, are together. */
export function families(columns, settings) {
  const found = new Map();
  for (const column of columns) {
    const stem = column.name.replace(/\d+(?=\D*$)/, "*"), key = stem === column.name ? `=${column.name}` : `${stem} ${column.type} ${settings.roles[column.name]} ${settings.decided.includes(column.name)}`;
    found.set(key, [...(found.get(key) ?? []), column]);
  }
  const grouped = [...found.values()].flatMap((members) => (members.length >= LEAST_IN_FAMILY ? [members] : members.map((one) => [one])));
  const place = new Map(columns.map(({ name }, index) => [name, index]));
  return grouped.sort((a, b) => place.get(a[0].name) - place.get(b[0].name));
}
