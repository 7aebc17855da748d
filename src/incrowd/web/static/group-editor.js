// The editor of groups of values: a value is dragged into a box, or its group is chosen in a list.
import { count, make, shorten } from "./app.js";
import { freeName, groupOf, placeValue, renameGroup } from "./groups.js";

const LISTED = 30; // values of a group that are shown
/** `view` is the column's hierarchy with its values shown; `changed(groups, rest)` is called after every change. */
export function groupEditor(view, changed) {
  let groups = view.groups, dragged = null;
  const list = make("ul", { class: "values-list", "aria-label": "Values, the most common first" }), boxes = make("div", { class: "boxes" });
  const rest = make("input", { id: "rest", autocomplete: "off", placeholder: "stay as they are", maxlength: "90", onchange: () => changed(groups, rest.value.trim()) });
  const set = (next) => { groups = next; draw(); changed(groups, rest.value.trim()); };
  const drop = (name) => ({ ondragover: (event) => event.preventDefault(), ondrop: (event) => { event.preventDefault(); if (dragged !== null) set(placeValue(groups, dragged, name())); dragged = null; } });

  function line({ value, rows }) {
    const now = groupOf(groups, value);
    const choice = make("select", { "aria-label": `Group of ${shorten(value, 40)}`, onchange: (event) => {
      set(placeValue(groups, value, event.target.value === "new" ? freeName(groups) : event.target.value ? event.target.value.slice(1) : null));
      list.querySelector(`[data-value="${CSS.escape(value)}"] select`)?.focus();
    } }, make("option", { value: "" }, "no group"), groups.map((group) => make("option", { value: `=${group.name}`, selected: group.name === now }, shorten(group.name, 30))), make("option", { value: "new" }, "a new group"));
    return make("li", { draggable: "true", "data-value": value, ondragstart: (event) => { dragged = value; event.dataTransfer.setData("text/plain", ""); } }, make("bdi", {}, shorten(value, 40)), make("span", { class: "soft" }, count(rows)), choice);
  }
  function box(group) {
    return make("fieldset", { class: "box", ...drop(() => group.name) }, make("legend", { class: "hidden" }, `Group ${shorten(group.name, 40)}`),
      make("input", { value: group.name, maxlength: "90", "aria-label": "Name of the group", onchange: (event) => set(renameGroup(groups, group.name, event.target.value.trim())) }),
      make("p", { class: "small" }, group.values.slice(0, LISTED).map((value) => shorten(value, 30)).join(", "), group.values.length > LISTED ? ` and ${count(group.values.length - LISTED)} more` : ""));
  }
  function draw() {
    list.replaceChildren(...view.values.map(line));
    boxes.replaceChildren(...groups.map(box), make("div", { class: "box new", ...drop(() => freeName(groups)) }, make("p", { class: "small soft" }, "Drop a value here for a new group")));
  }
  draw();
  const unlisted = view.other_values ? make("p", { class: "small soft" }, `${count(view.other_values)} rarer values (${count(view.other_rows)} rows) are not listed; they stay in the group they have, or are among all others.`) : "";
  return make("div", { class: "grouping" }, make("div", {}, list, unlisted), make("div", {}, boxes, make("label", { for: "rest" }, "All other values become"), rest));
}
