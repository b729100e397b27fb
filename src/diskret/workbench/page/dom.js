// Elements without markup in texts: whatever a file holds stays text.
export function el(tag, given = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name in made && !name.startsWith("aria") && name !== "list") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  return add(made, inside);
}

// Put elements into another one: lists of lists are fine, nothing is left out.
export function add(into, ...inside) {
  into.append(...inside.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return into;
}

export function fill(into, ...inside) {
  into.replaceChildren();
  return add(into, inside);
}

export const byId = (id) => document.getElementById(id);

let numbered = 0;
// A label above its field.
export function field(label, input) {
  input.id ||= `f${(numbered += 1)}`;
  return el("div", { class: "field" }, el("label", { htmlFor: input.id }, label), input);
}

export function choice(label, given) {
  return el("label", { class: "choice" }, el("input", { type: "checkbox", ...given }), label);
}

export function select(options, chosen, onchange, more = {}) {
  const made = el("select", { onchange: () => onchange(made.value), ...more });
  for (const [value, text] of options) {
    made.append(el("option", { value, selected: value === chosen }, text));
  }
  return made;
}
