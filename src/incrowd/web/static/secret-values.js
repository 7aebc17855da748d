// The values that are secret, one line each: a column, a sign, and values.

/** The lines of the field; a line that names no column or no value is refused with its number. */
export function readSecretValues(text, columns) {
  const lines = text.split("\n").map((line) => line.trim());
  lines.forEach((line, index) => {
    const [, name, values] = /^([^=<>]*)[=<>]+(.*)$/s.exec(line) ?? [];
    const wrong = (why) => { throw new Error(`Line ${index + 1}: ${why}`); };
    if (line && !values?.trim()) wrong("write a column, a sign and a value, such as illness=HIV or income>100000.");
    if (line && !columns.some((column) => line.startsWith(column)) && !columns.includes(name.trim())) wrong(`there is no column “${name.trim().slice(0, 40)}”.`);
  });
  return lines.filter(Boolean);
}
