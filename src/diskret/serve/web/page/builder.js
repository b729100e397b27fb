// The table builder: which variables, at which level, which codes count, and what is counted.
import { el, field, fill, select, t } from "./dom.js";

const name = (one) => one.label || one.name;

export function builder(data) {
  const used = new Map();
  const where = new Map();
  const measure = { kind: "count", of: [] };
  const order = el("p", { class: "muted", id: "order", "aria-live": "polite" });
  const told = () => { order.textContent = used.size ? t("by", { by: [...used.keys()].map((one) => name(data.variables.find((other) => other.name === one))).join(" × ") }) : t("total"); };
  const rows = data.variables.map((variable) => {
    const levels = [["", t("unused")], ["0", t("codes", { codes: Object.keys(variable.codes).length })],
      ...variable.levels.map((codes, i) => [String(i + 1), t("level", { level: i + 1, codes: Object.keys(codes).length })])];
    const choose = select(levels, "", (value) => {
      if (value === "") used.delete(variable.name);
      else used.set(variable.name, Number(value));
      told();
    }, { "aria-label": t("use", { variable: name(variable) }) });
    const said = el("span", { class: "muted" });
    const every = [...variable.levels, variable.codes];
    const boxes = el("div", { class: "codes" }, every.map((codes) => el("div", {}, Object.entries(codes).map(([code, label]) => el("label", { class: "choice" },
      el("input", { type: "checkbox", value: code, onchange: (event) => {
        const kept = where.get(variable.name) || new Set();
        if (event.target.checked) kept.add(code);
        else kept.delete(code);
        if (kept.size) where.set(variable.name, kept);
        else where.delete(variable.name);
        said.textContent = kept.size ? ` ${t("only", { codes: [...kept].join(", ") })}` : "";
      } }), label && label !== code ? `${code} ${label}` : code)))));
    return el("tr", {}, el("th", { scope: "row" }, name(variable)), el("td", {}, choose),
      el("td", {}, el("details", {}, el("summary", {}, t("filter"), said), boxes)));
  });
  told();
  const form = [el("section", { class: "card wide" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ["variable", "in_table", "filter"].map((one) => el("th", { scope: "col" }, t(one))))), el("tbody", {}, rows)), order),
    data.measures.length ? of(data, measure) : null];
  return { form, question: () => {
    const asked = { data: data.name, by: [...used].map(([variable, level]) => (level ? { variable, level } : variable)) };
    if (where.size) asked.where = Object.fromEntries([...where].map(([variable, codes]) => [variable, [...codes]]));
    if (measure.kind !== "count") { asked.measure = measure.kind; asked.of = measure.of; }
    return asked;
  } };
}

const NEEDED = { count: 0, sum: 1, mean: 1, ratio: 2 };

function of(data, measure) {
  const place = el("div", { class: "row" });
  const options = data.measures.map((one) => [one.name, name(one) + (one.unit ? ` (${one.unit})` : "")]);
  const kinds = Object.keys(NEEDED).filter((one) => NEEDED[one] <= data.measures.length);
  const draw = () => {
    measure.of = Array.from({ length: NEEDED[measure.kind] }, (_, i) => measure.of[i] || options[Math.min(i, options.length - 1)][0]);
    fill(place, field(t("measure"), select(kinds.map((one) => [one, t(`measure_${one}`)]), measure.kind, (value) => { measure.kind = value; draw(); })),
      measure.of.map((chosen, i) => field(t(i ? "per" : "of"), select(options, chosen, (value) => { measure.of[i] = value; }))));
  };
  draw();
  return el("section", { class: "card" }, place);
}
