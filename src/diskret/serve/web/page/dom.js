// Elements without markup in texts, and the words of the page.
let words = {};
export let language = "en";
export let told = {};

export async function learn(wanted) {
  told = await (await fetch(`/page/words/${wanted}`)).json();
  ({ words, language } = told);
  document.documentElement.lang = language;
}

export const t = (key, blanks = {}) => (words[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => (name in blanks ? blanks[name] : whole));

export function el(tag, given = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name in made && !name.startsWith("aria")) made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  return fill(made, inside);
}

export function fill(into, ...inside) {
  into.replaceChildren(...inside.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return into;
}

let numbered = 0;
export function field(label, input) {
  input.id ||= `f${(numbered += 1)}`;
  return el("div", { class: "field" }, el("label", { htmlFor: input.id }, label), input);
}

export function select(options, chosen, onchange, more = {}) {
  const made = el("select", { ...more, onchange: () => onchange(made.value) }, options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
  return made;
}

export function number(value) {
  if (value === null || value === undefined) return "–";
  return new Intl.NumberFormat(language === "de" ? "de-DE" : "en-GB", { maximumFractionDigits: 2 }).format(value);
}
