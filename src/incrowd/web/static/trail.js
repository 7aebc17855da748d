// What happened, in words: the steps of the audit trail with what each changed. A project may bring steps of any kind.
import { ROLES } from "./roles.js";

export const DECISIONS = { release: "goes out", refuse: "does not go out", later: "is decided later" };
const DONE = { assessment: "assessed", protection: "protected", solution: "least loss searched", release: "report of a protected table made", frontier: "methods compared" };
const CALLED = { population: "people in the population", strata: "column of the strata", cluster: "column of the clusters", threshold: "average risk accepted", highest: "highest risk accepted", tolerate: "secrets that may be certain", certain: "share that makes certain", rows_are_people: "every row is a person" };

const some = (names) => (names.length > 3 ? `${names.length} columns` : names.join(", "));
const listed = (given) => (Array.isArray(given) ? given.filter((one) => typeof one === "string") : []);
const plain = (value) => (value === null || value === undefined || value === "" ? "none" : typeof value === "number" ? value.toLocaleString("en-US", { maximumFractionDigits: 6 }) : String(value));

function changes(details) {
  const roles = Object.entries(details.roles ?? {}).filter(([, pair]) => Array.isArray(pair)), said = [], byRole = new Map();
  for (const [name, [, role]] of roles) byRole.set(role, [...(byRole.get(role) ?? []), name]);
  for (const [role, names] of byRole) said.push(`${some(names)}: ${ROLES.find((one) => one.role === role)?.short ?? plain(role)}`);
  const confirmed = listed(details.decided).filter((name) => !roles.some(([changed]) => changed === name));
  if (confirmed.length) said.push(`${some(confirmed)} confirmed`);
  if (listed(details["open again"]).length) said.push(`${some(listed(details["open again"]))} open again`);
  for (const [name, pair] of Object.entries(details)) if (name !== "roles" && Array.isArray(pair) && pair.length === 2 && (name in CALLED || name === "recipient")) said.push(`${CALLED[name] ?? name}: ${plain(pair[0])} → ${plain(pair[1])}`);
  return [...said, ...listed(details.also).map((name) => `${name} changed`)].join("; ");
}

/** One step as a line, without its time. */
export function stepInWords({ what, details = {} }) {
  const [, kind] = /^(\w+) done$/.exec(what) ?? [], [, decision] = /^decided: (\w+)$/.exec(what) ?? [];
  if (decision) return `decided: ${DECISIONS[decision] ?? decision}${details.by ? `, says ${plain(details.by)}` : ""}`;
  if (kind) return `${DONE[kind] ?? what}${typeof details.headline === "string" ? `: ${details.headline}` : ""}`;
  const changed = ["settings changed", "undone", "done again"].includes(what) ? changes(details) : "";
  return changed ? (what === "settings changed" ? changed : `${what}: ${changed}`) : what;
}
