// The entries of the audit trail in words. A loaded project may hold entries of any content.
import { ROLES } from "./roles.js";

export const DECISIONS = { release: "goes out", refuse: "does not go out", later: "is decided later" };
const DONE = { assessment: "assessed", protection: "protected", solution: "least loss searched", release: "report of a protected table made", frontier: "methods compared", attack: "attacked" };
const CALLED = { population: "people in the population", strata: "column of the strata", cluster: "column of the clusters", threshold: "average risk accepted", highest: "highest risk accepted", tolerate: "secrets that may be certain", certain: "share that makes certain", rows_are_people: "every row is a person" };

const namesInWords = (names) => (names.length > 3 ? `${names.length} columns` : names.join(", "));
const textsIn = (given) => (Array.isArray(given) ? given.filter((one) => typeof one === "string") : []);
const valueInWords = (value) => (value === null || value === undefined || value === "" ? "none" : typeof value === "number" ? value.toLocaleString("en-US", { maximumFractionDigits: 6 }) : String(value));

function changesInWords(details) {
  const roles = Object.entries(details.roles ?? {}).filter(([, pair]) => Array.isArray(pair)), said = [], byRole = new Map();
  for (const [name, [, role]] of roles) byRole.set(role, [...(byRole.get(role) ?? []), name]);
  for (const [role, names] of byRole) said.push(`${namesInWords(names)}: ${ROLES.find((one) => one.role === role)?.short ?? valueInWords(role)}`);
  const confirmed = textsIn(details.decided).filter((name) => !roles.some(([changed]) => changed === name));
  if (confirmed.length) said.push(`${namesInWords(confirmed)} confirmed`);
  if (textsIn(details["open again"]).length) said.push(`${namesInWords(textsIn(details["open again"]))} open again`);
  for (const [name, pair] of Object.entries(details)) if (name !== "roles" && Array.isArray(pair) && pair.length === 2 && (name in CALLED || name === "recipient")) said.push(`${CALLED[name] ?? name}: ${valueInWords(pair[0])} → ${valueInWords(pair[1])}`);
  return [...said, ...textsIn(details.also).map((name) => `${name} changed`)].join("; ");
}

/** One entry as a line, without its time. */
export function stepInWords({ what, details = {} }) {
  const [, kind] = /^(\w+) done$/.exec(what) ?? [], [, decision] = /^decided: (\w+)$/.exec(what) ?? [];
  if (decision) return `decided: ${DECISIONS[decision] ?? decision}${details.by ? `, says ${valueInWords(details.by)}` : ""}`;
  if (kind) return `${DONE[kind] ?? what}${typeof (details.headline ?? details.sentence) === "string" ? `: ${details.headline ?? details.sentence}` : ""}`;
  const changed = ["settings changed", "undone", "done again"].includes(what) ? changesInWords(details) : "";
  return changed ? (what === "settings changed" ? changed : `${what}: ${changed}`) : what;
}
