// Groups of a column's values, each with a name; a value is in at most one group.

/** Put a value into a group (null: into none); groups without values are removed. */
export function placeValue(groups, value, name) {
  const others = groups.map((group) => ({ ...group, values: group.values.filter((one) => one !== value) }));
  const made = name === null ? others : others.some((group) => group.name === name) ? others.map((group) => (group.name === name ? { ...group, values: [...group.values, value] } : group)) : [...others, { name, values: [value] }];
  return made.filter((group) => group.values.length);
}

/** A name that no group has. */
export function freeName(groups) {
  let number = groups.length + 1;
  while (groups.some((group) => group.name === `group ${number}`)) number += 1;
  return `group ${number}`;
}

/** Rename a group; a group that has the name already is merged with it. */
export function renameGroup(groups, old, name) {
  if (!name || name === old) return groups;
  const values = groups.filter((group) => group.name === old || group.name === name).flatMap((group) => group.values);
  return groups.filter((group) => group.name !== name || group.name === old).map((group) => (group.name === old ? { name, values } : group));
}

export const groupOf = (groups, value) => groups.find((group) => group.values.includes(value))?.name ?? null;
