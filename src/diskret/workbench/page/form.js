// Forms of what a job file takes, as the server tells it: one field a parameter, empty ones are left out.
import { get } from "./api.js";
import { el, field, select } from "./dom.js";
import { tried } from "./state.js";
import { t, worded } from "./words.js";

let told;
export async function forms() {
  told ||= await tried(() => get("forms"));
  return told;
}

const NUMBERS = { whole: 1, number: "any", percent: "any" };

export const named = (key, of) => worded(`${of}_${key}`) ?? worded(`param.${key.replace("magnitude.", "")}`) ?? key;

// takes: of the server; given: what the job says; of: prefix of the labels; changed(values) is called while typing.
// Values that are not given are not there. Those that are rarely needed are folded away.
export function form(takes, given, { of = "", columns = [], files = [], changed, all = false }) {
  const values = flat(given || {});
  const tell = (key, value) => {
    if (value === undefined || value === "") delete values[key];
    else values[key] = value;
    changed(deep(values));
  };
  const fields = takes.map((one) => [one, made(one, values[one.key], { of, columns, files, tell })]);
  const first = fields.filter(([one]) => all || one.required);
  const rest = fields.filter(([one]) => !all && !one.required);
  const open = rest.some(([one]) => one.key in values);
  return [el("div", { class: "row" }, first.map(([, input]) => input)),
    rest.length ? el("details", { open }, el("summary", {}, t("form.further")), el("div", { class: "row" }, rest.map(([, input]) => input))) : null];
}

function made(one, value, { of, columns, files, tell }) {
  const label = named(one.key, of);
  const usual = one.usual === null || one.usual === undefined || one.usual === "" ? "" : String(one.usual);
  const none = ["", one.required ? "" : usual ? t("form.usual", { usual: worded(`word.${usual}`) ?? usual }) : "–"];
  if (one.kind in NUMBERS) {
    const input = el("input", { type: "number", step: NUMBERS[one.kind], min: one.low ?? (one.kind === "percent" ? 0 : null), max: one.high ?? null,
      value: value ?? "", placeholder: usual, oninput: () => { if (!input.validity.badInput) tell(one.key, input.value === "" ? undefined : input.valueAsNumber); } });
    return field(label, input);
  }
  if (one.kind === "flag") {
    const said = [["true", t("form.yes")], ["false", t("form.no")]];
    return field(label, select([["", t("form.usual", { usual: t(one.usual ? "form.yes" : "form.no") })], ...said], value === undefined ? "" : String(value), (now) => tell(one.key, now === "" ? undefined : now === "true")));
  }
  if (one.kind === "choice") return field(label, select([none, ...one.words.map((word) => [word, worded(`word.${word}`) ?? word])], value ?? "", (now) => tell(one.key, now)));
  if (one.kind === "column" || one.kind === "file") {
    const names = one.kind === "file" ? files : columns;
    const options = [["", "–"], ...names.map((name) => [name, name])];
    if (value && !names.includes(value)) options.push([value, value]);
    return field(label, select(options, value ?? "", (now) => tell(one.key, now)));
  }
  if (one.kind === "columns") return field(label, text(value, (all) => tell(one.key, all.length ? all : undefined)));
  if (one.kind === "text") {
    const input = el("input", { type: "text", value: value ?? "", placeholder: usual, onchange: () => tell(one.key, input.value.trim()) });
    return field(label, input);
  }
  const input = el("input", { type: "text", class: "code", value: value === undefined ? "" : JSON.stringify(value), placeholder: usual && JSON.stringify(one.usual),
    onchange: () => {
      try {
        input.setCustomValidity("");
        tell(one.key, input.value.trim() === "" ? undefined : JSON.parse(input.value));
      } catch {
        input.setCustomValidity(t("form.json"));
        input.reportValidity();
      }
    } });
  return field(`${label} ${t("form.as_json")}`, input);
}

// Names or codes, with commas between them.
export function text(value, changed) {
  const all = value === undefined ? [] : [value].flat();
  const input = el("input", { type: "text", value: all.join(", "), placeholder: "a, b",
    onchange: () => changed(input.value.split(",").map((one) => one.trim()).filter(Boolean)) });
  return input;
}

// Sections inside of a section, by names with dots, and back.
const flat = (given) => Object.fromEntries(Object.entries(given).flatMap(([key, value]) => (key === "magnitude" ? Object.entries(value).map(([inner, one]) => [`${key}.${inner}`, one]) : [[key, value]])));
function deep(values) {
  const found = {};
  for (const [key, value] of Object.entries(values)) {
    const [first, inner] = key.split(".");
    if (inner) (found[first] ||= {})[inner] = value;
    else found[key] = value;
  }
  return found;
}
