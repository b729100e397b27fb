// What each column is used for: the dimensions, the value, and who contributes.
import { get } from "./api.js";
import { add, el, field, select } from "./dom.js";
import { change, known, table, tried } from "./state.js";
import { scaled, t } from "./words.js";

const ROLES = ["", "dimension", "value", "unit", "holding", "weight"];

// The first table of a draft, from the roles that the server guesses.
export function proposed(draft, columns) {
  const by = {};
  for (const one of columns) if (one.role === "dimension") by[one.name] = "flat";
  const made = { by };
  for (const role of ["value", "unit", "holding", "weight"]) {
    const found = columns.find((one) => one.role === role);
    if (found) made[role] = found.name;
  }
  const value = columns.find((one) => one.name === made.value);
  if (value && value.decimals) made.decimals = value.decimals;
  made.rules = value ? { p_percent: { p: 10 }, minimum_frequency: { n: 3 } } : { minimum_frequency: { n: 3 } };
  draft.tables = [made];
  draft.output ||= { folder: "out", formats: ["csv", "xlsx"], language: known.language };
}

function role(of, name) {
  if (name in (of.by || {})) return "dimension";
  return ROLES.slice(2).find((one) => of[one] === name) || "";
}

function set(of, name, wanted) {
  delete of.by[name];
  for (const one of ROLES.slice(2)) if (of[one] === name) delete of[one];
  if (wanted === "dimension") of.by[name] = "flat";
  else if (wanted) of[wanted] = name;
  if (!of.value) {
    for (const rule of ["p_percent", "pq", "dominance", "request", "zero_cells"]) delete of.rules?.[rule];
    delete of.decimals;
    delete of.weight;
  }
}

export async function show(main, go) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const rows = el("tbody");
  const headings = ["column", "examples", "codes", "missing", "use"];
  add(main,
    el("h2", {}, t("columns.heading")), el("p", { class: "lead" }, t("columns.lead")), wrong,
    el("div", { class: "card wide" }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, headings.map((one) =>
        el("th", { scope: "col", class: ["codes", "missing"].includes(one) ? "number" : "" }, t(`columns.${one}`))))), rows)));
  const told = await tried(() => get("columns"), wrong);
  if (!told) return;
  main.querySelector(".lead").append(" ", t("columns.records", { records: scaled(told.records) }));
  const of = table();
  if (!of) return;
  main.querySelector(".lead").after(tables(go, wrong));
  for (const one of told.columns) {
    const roles = ROLES.map((name) => [name, t(`role.${name || "none"}`)]);
    const use = select(roles, role(of, one.name),
      (wanted) => tried(() => change((draft) => {
        const mine = draft.tables[known.table];
        set(mine, one.name, wanted);
        if (wanted === "value") { delete mine.decimals; if (one.decimals) mine.decimals = one.decimals; }
      }), wrong),
      { "aria-label": t("columns.use_of", { name: one.name }) });
    add(rows, el("tr", {}, el("th", { scope: "row" }, one.name), el("td", { class: "muted" }, one.examples.join(" · ")),
      el("td", { class: "number" }, scaled(one.codes)), el("td", { class: "number" }, scaled(one.missing)), el("td", {}, use)));
  }
  add(main, settings(of, wrong), el("button", { class: "main", onclick: () => go("trees") }, t("next.trees")));
}

// Several tables of one job, which are protected together: choose, add, remove.
function tables(go, wrong) {
  const all = known.draft.tables;
  const again = (at) => { known.table = Math.max(0, Math.min(at, known.draft.tables.length - 1)); go("columns"); };
  const names = all.map((one, i) => [String(i), one.name || one.value || "count"]);
  const more = () => tried(async () => {
    await change((draft) => {
      const made = structuredClone(draft.tables[known.table]);
      const taken = new Set(draft.tables.map((one) => one.name || one.value || "count"));
      const stem = made.name || made.value || "count";
      for (let i = 2; !made.name || taken.has(made.name); i += 1) made.name = `${stem}_${i}`;
      delete made.frozen;
      draft.tables.push(made);
    });
    again(all.length);
  }, wrong);
  const less = () => tried(async () => { await change((draft) => { draft.tables.splice(known.table, 1); }); again(known.table); }, wrong);
  return el("div", { class: "card row" }, field(t("columns.which"), select(names, String(known.table), (value) => again(Number(value)))),
    el("button", { onclick: more }, t("columns.add")), all.length > 1 ? el("button", { onclick: less }, t("columns.remove")) : null);
}

function settings(of, wrong) {
  const text = (key, value) => el("input", { type: "text", value: value || "",
    onchange: (event) => tried(() => change((draft) => {
      const mine = draft.tables[known.table];
      const given = event.target.value.trim();
      if (key === "name" || key === "vintage") { if (given) mine[key] = given; else delete mine[key]; return; }
      mine.title = { ...mine.title, [key]: given };
      if (!given) delete mine.title[key];
      if (!Object.keys(mine.title).length) delete mine.title;
    }), wrong) });
  const decimals = el("input", { type: "number", min: 0, max: 12, value: of.decimals || 0, onchange: (event) =>
    tried(() => change((draft) => { draft.tables[known.table].decimals = Number(event.target.value); }), wrong) });
  return el("section", { class: "card" }, el("h3", {}, t("columns.table")), el("div", { class: "row" },
    field(t("columns.name"), text("name", of.name)), field(t("columns.title_en"), text("en", of.title?.en)),
    field(t("columns.title_de"), text("de", of.title?.de)), field(t("columns.vintage"), text("vintage", of.vintage)),
    of.value ? field(t("columns.decimals"), decimals) : null));
}
