// Values of a column in groups, each with a name; a value is in one group at most.

/** A value put into a group; null takes it out. Groups without values go. */
export function placed(groups, value, name) {
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

/** A group with another name; one that has that name already takes its values. */
export function renamed(groups, old, name) {
  if (!name || name === old) return groups;
  const values = groups.filter((group) => group.name === old || group.name === name).flatMap((group) => group.values);
  return groups.filter((group) => group.name !== name || group.name === old).map((group) => (group.name === old ? { name, values } : group));
}

export const groupOf = (groups, value) => groups.find((group) => group.values.includes(value))?.name ?? null;
