// What all pages use: requests to the API, elements, messages, settings with undo, the choice of a table.
import { stepInWords } from "./trail.js";

export const table = document.body.dataset.table || null;

/** An element with attributes and children; text is always text, never markup. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element[name] = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A table in a region that scrolls; `heads` and `rows` are its cells and lines. */
export function scrollingTable(label, attributes, caption, heads, rows) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    make("table", attributes, make("caption", {}, caption), make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)));
}

/** Let a button say what it does: show the values of people, or hide them once they are shown. */
export function labelValues(button, shown) {
  button.setAttribute("aria-pressed", String(shown));
  button.textContent = shown ? "Hide the values" : "Show the values";
  return button;
}

/** Replace the children of an element, but update existing elements in place, so that a click that has begun on one is not lost. */
export function patch(place, children) {
  const before = [...place.childNodes], after = children.map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  after.forEach((made, index) => {
    const old = before[index];
    if (!old) place.append(made);
    else if (old.nodeName !== made.nodeName || old.dataset?.column !== made.dataset?.column || old.dataset?.question !== made.dataset?.question || old.dataset?.job !== made.dataset?.job) old.replaceWith(made);
    else if (made.nodeType === Node.TEXT_NODE) old.data = made.data;
    else updateElement(old, made);
  });
  for (const left of before.slice(after.length)) left.remove();
}

/** Give an element the attributes and children of another, in place. */
export function updateElement(old, made) {
  for (const name of old.getAttributeNames()) if (name !== "style" && !made.hasAttribute(name) && !(name === "open" && old.closest(".condition"))) old.removeAttribute(name);
  for (const name of made.getAttributeNames()) if (name !== "style" && old.getAttribute(name) !== made.getAttribute(name)) old.setAttribute(name, made.getAttribute(name));
  old.style.cssText = made.style.cssText; // the content security policy forbids style attributes
  old.onclick = made.onclick;
  old.onchange = made.onchange;
  patch(old, [...made.childNodes]);
  if (["INPUT", "SELECT", "TEXTAREA"].includes(old.nodeName)) {
    old.disabled = made.disabled;
    if (old !== document.activeElement) old.value = made.value; // do not overwrite what the user is typing
  }
}

/** Counts requests of one kind: call the result before a request; it returns a function that is true if no newer request has begun. */
export function requestCounter() {
  let last = 0;
  return () => { const mine = ++last; return () => mine === last; };
}

/** Send a request to the API; returns the response's JSON, or throws an Error with the API's message. */
export async function api(method, path, body) {
  const options = { method, headers: {}, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
    options.keepalive = method === "PATCH" && options.body.length < 30000; // the request continues if the page is left
  }
  let answer;
  try {
    answer = await fetch("/api/v1" + path, options);
  } catch {
    throw new Error("The app does not answer. Is incrowd still running? Start it again and reload this page; if it then asks for a key, open the address that incrowd serve prints.");
  }
  const text = await answer.text();
  let said = null;
  try { said = text ? JSON.parse(text) : null; } catch { said = null; }
  if (!answer.ok) {
    const trouble = new Error(sentence(said?.error || `the app answered with status ${answer.status}`));
    trouble.status = answer.status;
    throw trouble;
  }
  return said;
}

/** The content of a project file. */
export async function readProject(file) {
  try { return JSON.parse(await file.text()); } catch { throw new Error("This is not a project file: it is not JSON. Choose a file that ends in .incrowd."); }
}

/** Save a file of this page among the downloads. */
export function saveAs(name, content) {
  const address = URL.createObjectURL(content);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A message of the library as a sentence: a capital letter, a full stop. */
export function sentence(text) {
  const trimmed = String(text).trim();
  const first = /^[a-z]{2,}[ ,:;]/.test(trimmed) ? trimmed.charAt(0).toUpperCase() : trimmed.charAt(0); // the name of a file, l, k and t keep their case
  return first + trimmed.slice(1) + (/[.!?]$/.test(trimmed) ? "" : ".");
}

/** A name or cell, shortened, and without control characters, which could reverse the text around it. */
export function shorten(text, most = 60) {
  const plain = text.slice(0, most + 1).replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "\ufffd");
  return plain.length > most ? plain.slice(0, most - 1) + "…" : plain;
}

export const count = (number) => Math.round(number).toLocaleString("en-US");

/** A share in the same format as `percent` of wording.py. */
export function percent(share) {
  if (share === 0 || share === 1) return `${100 * share}%`;
  if (share > 0.9999) return "over 99.99%";
  if (share < 1e-9) return "below 0.0000001%";
  if (share < 1e-3) return (100 * share).toFixed(-1 - Math.floor(Math.log10(share))) + "%";
  return (100 * share).toFixed(share < 0.1 || share > 0.99 ? 2 : 1) + "%";
}

/** Announce a text to screen readers. */
export function announce(text) { document.getElementById("said").textContent = text; }

export function showProblem(error) {
  const place = document.getElementById("problem");
  const close = make("button", { type: "button", class: "quiet", onclick: () => place.replaceChildren() }, "Close");
  place.replaceChildren(make("div", { class: "problem" }, make("span", {}, error.message || String(error)), close));
}
export function clearProblem() { document.getElementById("problem").replaceChildren(); }

/** A function that calls `action` with the last arguments once it was not called for some milliseconds. */
export function debounced(action, milliseconds = 250) {
  let timer = null;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => action(...given), milliseconds); };
}

/* ---------------------------------------------------------------- settings, undo, the header */

/** The settings on the server; requested again if they were changed meanwhile. */
export async function loadSettings() {
  if (!table) return null;
  for (;;) {
    const before = writes, state = await api("GET", `/tables/${table}/settings`);
    if (before === writes) return settingsFrom(state);
  }
}

/** Save the changes, and only them, since another page may have changed other settings. */
export async function saveSettings(changes) {
  document.getElementById("undo").disabled = false; // at once: undo waits for the change
  saving = saving.catch(() => null).then(() => writeSettings("PATCH", "", changes)); // in the order of the clicks
  return settingsFrom(await saving);
}
let saving = Promise.resolve(), writes = 0; // counts the starts and ends of writes

async function writeSettings(method, path, body) {
  writes += 1;
  try { return await api(method, `/tables/${table}/settings${path}`, body); } finally { writes += 1; }
}

/** The settings of a response; enables the buttons for undo and redo. */
function settingsFrom(state) {
  const undo = document.getElementById("undo"), redo = document.getElementById("redo");
  undo.disabled = !state.can_undo;
  redo.disabled = !state.can_redo;
  return state.settings;
}

async function undoOrRedo(which) {
  try {
    await saving.catch(() => null); // otherwise a pending change would be saved after the undo
    const made = settingsFrom(await writeSettings("POST", `/${which}`));
    document.dispatchEvent(new CustomEvent("settings-restored", { detail: made }));
    const [last] = (await api("GET", `/tables/${table}/trail`)).slice(-1), said = shorten(sentence(stepInWords(last)), 100);
    document.getElementById("undone").textContent = said;
    announce(said);
  } catch (error) { showProblem(error); }
}

document.getElementById("undo")?.addEventListener("click", () => undoOrRedo("undo"));
document.getElementById("redo")?.addEventListener("click", () => undoOrRedo("redo"));
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea")) return;
  const key = event.key.toLowerCase();
  const which = key === "y" || (key === "z" && event.shiftKey) ? "redo" : key === "z" ? "undo" : null;
  const button = which && document.getElementById(which);
  if (button && !button.disabled) { event.preventDefault(); undoOrRedo(which); }
});
document.getElementById("pick-table")?.addEventListener("change", (event) => {
  if (event.target.value) location.href = `/tables/${event.target.value}/${document.body.dataset.place ?? "who"}`;
});

/** Copy buttons copy the text of the element that they control. */
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const source = document.getElementById(button.getAttribute("aria-controls"));
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
    announce("Copied.");
  } catch {
    getSelection().selectAllChildren(source);
    announce("Selected; copy it with the keyboard.");
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});
