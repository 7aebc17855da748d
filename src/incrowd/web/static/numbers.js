// Parsers of numbers in the notation of any locale; ambiguous ones are refused.

const MULTIPLES = new Map([...["k", "thousand"].map((word) => [word, 1e3]), ...["m", "mn", "mio", "million", "millions"].map((word) => [word, 1e6]), ...["b", "bn", "billion", "billions"].map((word) => [word, 1e9])]);

/** Parse a number such as 1 000, 1,000, 0.05, 0,05, 5 %, 60 million or 60M; null for an empty text. */
export function parseNumber(text) {
  let plain = text.replace(/[\s_'’]/g, "");
  if (!plain) return null;
  const word = plain.match(/\d([a-z]+)\.?$/i), times = word ? MULTIPLES.get(word[1].toLowerCase()) : undefined;
  if (times) plain = plain.slice(0, word.index + 1);
  const parts = plain.match(/^(\d+)\/([1-9]\d*)$/); // 1/3
  if (parts) return Number(parts[1]) / Number(parts[2]);
  const share = plain.endsWith("%");
  if (share) plain = plain.slice(0, -1);
  if (/^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(plain)) plain = plain.replaceAll(",", ""); // 3,200,000
  else if (/^-?[1-9]\d{0,2}(\.\d{3}){2,}(,\d+)?$/.test(plain)) plain = plain.replaceAll(".", "").replace(",", "."); // 3.200.000
  else if (/^-?\d*,\d+$/.test(plain)) plain = plain.replace(",", "."); // 0,2
  const number = /^-?(\d+\.?\d*|\.\d+)(e\+?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  if (!Number.isFinite(number)) throw new Error(`“${text.slice(0, 40)}” is not a number. Write it such as 3200000, 3.2 million, 0.05 or 5%.`);
  if (times) return Number((number * times).toPrecision(15)); // 1.1 million is a whole number
  return share ? number / 100 : number;
}

const CLASS_SIZES = [3, 11, 20]; // of the sources, which round 1/3 to 0.33 and 1/11 to 0.09

/** The smallest class whose risk of 1 ÷ size is accepted, as in `recipients.py`: from 0.33 and 0.09 on, 1/3 and 1/11 are meant. */
export function smallestClass(limit) {
  const conventional = CLASS_SIZES.find((size) => Math.round(100 / size) / 100 <= limit && limit < 1 / size);
  return conventional ?? Math.ceil(1 / limit - 1e-9);
}

/** Parse a number of people; 10.000 may be ten, so it is accepted only if the share has a decimal comma. */
function parsePeople(text, decimalComma) {
  if (/^\d{1,3}\.\d{3}$/.test(text)) {
    if (!decimalComma) throw new Error(`“${text}” may be ${text.slice(0, -4)} or ${text.replace(".", "")} people. Write it without separators.`);
    return Number(text.replace(".", ""));
  }
  return parseNumber(text);
}

/** Split a line at tabs, semicolons or blanks, or else at commas. */
function splitLine(line) {
  const strong = line.split(/\s*[;\t]\s*/).filter(Boolean);
  if (strong.length > 1) return strong;
  const grouped = line.match(/^(\d{1,3}(?:[ \u00a0\u202f]\d{3})+),?\s+(\S+)$/); // 10 000 0,86
  if (grouped) return [grouped[1], grouped[2]];
  const blank = line.split(/\s+/).map((part) => part.replace(/,$/, "")).filter(Boolean);
  return blank.length > 1 ? blank : line.split(",").map((part) => part.trim()).filter(Boolean);
}

/** Parse measured points, one per line: people and the share that was named; an error has the number of its line. */
export function parsePoints(text) {
  const found = [];
  text.split(/\r?\n/).forEach((raw, index) => {
    const line = raw.trim();
    if (!/^[\d.]/.test(line)) return; // a header, or an empty line
    const two = splitLine(line), wrong = (why) => new Error(`Line ${index + 1}: ${why}`);
    if (two.length !== 2) throw wrong("write two numbers, people and share, with a blank, a tab or a semicolon between them.");
    let size, share;
    try {
      size = parsePeople(two[0], /^\d*,\d+%?$/.test(two[1]));
      share = parseNumber(two[1]);
    } catch (error) { throw wrong(error.message); }
    if (!Number.isInteger(size) || size < 1) throw wrong("the first number must be whole people.");
    if (!(share >= 0 && share <= 1)) throw wrong("the second number must be a share from 0 to 1, or a percentage.");
    found.push({ n: size, correctness: share });
  });
  if (found.length < 2) throw new Error("Two points at least are needed: people and share, one point a line.");
  return found;
}
