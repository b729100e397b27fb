// What makes a cell unsafe; the number of unsafe cells is told while one types.
import { get, post } from "./api.js";
import { add, el, field, fill, select } from "./dom.js";
import { form, forms, text } from "./form.js";
import { change, known, table, tried } from "./state.js";
import { percent, scaled, t } from "./words.js";

// What a rule begins with when it is chosen; they stand in this order.
const USUAL = { minimum_frequency: { n: 3 }, p_percent: { p: 10 }, pq: { p: 10, q: 50 }, dominance: { n: 3, k: 75 }, group_disclosure: { percent: 90 },
  marginal_value: {}, request: { share: 70 }, zero_cells: { level: 10 } };

export async function show(main, go) {
  const of = table();
  const wrong = el("p", { class: "wrong", role: "alert" });
  const count = el("output", { class: "big", id: "unsafe", "aria-live": "polite" }, "…");
  const share = el("p", { class: "muted", id: "share" });
  const warned = el("div", { id: "warnings", role: "status" });
  const each = {};
  const rules = structuredClone(of?.rules || {});
  const { rules: known_rules } = (await forms()) || { rules: {} };
  const files = ((await tried(() => get("files"), wrong)) || []).filter((one) => ["hst", "csv"].includes(one.kind)).map((one) => one.path);
  const columns = Object.keys(of?.by || {});
  const all = ((await tried(() => get("columns"), wrong))?.columns || []).map((one) => one.name);
  const boxes = Object.keys(USUAL).filter((name) => known_rules[name] && (of?.value || !known_rules[name].sums)).map(box);
  add(main,
    el("h2", {}, t("rules.heading")), el("p", { class: "lead" }, t("rules.lead")),
    el("section", { class: "card", "aria-label": t("rules.unsafe") }, el("div", {}, t("rules.unsafe")), count, share, warned, wrong),
    el("div", { class: "rules" }, boxes, missingSafe(), byHand()), el("div", { class: "rules" }, varying()),
    el("p", {}, el("button", { class: "main", onclick: () => go("protect") }, t("next.protect")), " ",
      el("button", { onclick: () => go("table") }, t("next.look"))));
  await counted(() => get(`unsafe?table=${known.table}`));

  // A rule with its fields; further ones of the same name stay as they are.
  function box(name) {
    const kept = () => (Array.isArray(rules[name]) ? rules[name].slice(1) : []);
    const first = () => (Array.isArray(rules[name]) ? rules[name][0] : rules[name]);
    const used = el("input", { type: "checkbox", checked: first() !== undefined, onchange: chosen });
    const fields = el("div", { hidden: !used.checked });
    each[name] = el("span", { class: "muted" });
    draw();
    function chosen() {
      if (used.checked) rules[name] = { ...USUAL[name] };
      else delete rules[name];
      draw();
      changed();
    }
    function draw() {
      fields.hidden = !used.checked;
      fill(fields, form(known_rules[name].takes, first(), { of: `rule.${name}`, columns, changed: (values) => {
        if (known_rules[name].takes.some((one) => one.required && !(one.key in values))) return;
        rules[name] = kept().length ? [values, ...kept()] : values;
        changed();
      } }), name === "request" ? asking() : null);
    }
    return set(name, used, fields, kept().length ? el("p", { class: "help" }, t("rules.more", { rules: kept().length })) : null, each[name]);
  }

  function set(name, used, ...inside) {
    return el("fieldset", {}, el("legend", {}, el("label", { class: "choice" }, used, t(`rule.${name}`))), el("p", { class: "help" }, t(`rule.${name}_help`)), inside);
  }

  // The column of the records that says who asked for protection.
  function asking() {
    const chosen = typeof of.request === "string" ? of.request : "";
    return field(t("rules.asked"), select([["", of.request && !chosen ? t("rules.as_it_is") : "–"], ...all.map((one) => [one, one])], chosen, (value) => tried(async () => {
      await change((draft) => {
        draft.tables[known.table].rules = rules;
        if (value) draft.tables[known.table].request = value;
        else delete draft.tables[known.table].request;
      });
      await counted(() => get(`unsafe?table=${known.table}`));
    }, wrong)));
  }

  // Codes that mean "unknown", by column.
  function missingSafe() {
    const used = el("input", { type: "checkbox", checked: "missing_safe" in rules, onchange: () => { fields.hidden = !used.checked; if (!used.checked) { delete rules.missing_safe; changed(); } } });
    const fields = el("div", { class: "row", hidden: !used.checked }, columns.map((column) => field(column, text(rules.missing_safe?.[column], (codes) => {
      const all = { ...rules.missing_safe, [column]: codes };
      if (!codes.length) delete all[column];
      if (Object.keys(all).length) rules.missing_safe = all;
      else delete rules.missing_safe;
      changed();
    }))));
    each.missing_safe = el("span", { class: "muted" });
    return set("missing_safe", used, fields, each.missing_safe);
  }

  // A file of cells that a person has judged.
  function byHand() {
    const one = Array.isArray(rules.apriori) ? rules.apriori[0] : rules.apriori;
    const used = el("input", { type: "checkbox", checked: one !== undefined, onchange: () => { fields.hidden = !used.checked; if (!used.checked) { delete rules.apriori; changed(); } } });
    const takes = [{ key: "file", kind: "file", required: true }, { key: "range", kind: "percent", usual: 10 }, ...["reason", "who", "date", "separator", "encoding"].map((key) => ({ key, kind: "text" }))];
    const fields = el("div", { hidden: !used.checked }, form(takes, one, { of: "rule.apriori", files, changed: (values) => {
      if (!values.file) return;
      rules.apriori = Array.isArray(rules.apriori) && rules.apriori.length > 1 ? [values, ...rules.apriori.slice(1)] : values;
      changed();
    } }));
    each.apriori = el("span", { class: "muted" });
    return set("apriori", used, fields, each.apriori);
  }

  // Rules that differ by category: a row for each code, "*" for all others.
  function varying() {
    const rows = Object.entries(Array.isArray(rules.varying) ? rules.varying[0] : rules.varying || {}).flatMap(([column, codes]) => Object.entries(codes).map(([code, own]) => ({ column, code, own })));
    const body = el("div");
    const names = Object.keys(USUAL).filter((name) => known_rules[name] && (of?.value || !known_rules[name].sums) && known_rules[name].takes.some((one) => one.required));
    each.varying = el("span", { class: "muted" });
    draw();
    function kept() {
      const made = {};
      for (const { column, code, own } of rows) if (column && code) (made[column] ||= {})[code] = own;
      if (Object.keys(made).length) rules.varying = made;
      else delete rules.varying;
      changed();
    }
    function draw() {
      fill(body, rows.map((row, i) => el("div", { class: "row" },
        field(t("varying.column"), select(columns.map((one) => [one, one]), row.column, (value) => { row.column = value; kept(); })),
        field(t("varying.code"), el("input", { type: "text", size: 8, value: row.code, onchange: (event) => { row.code = event.target.value.trim(); kept(); } })),
        field(t("varying.rule"), select([["none", t("varying.none")], ...names.map((one) => [one, t(`rule.${one}`)])], row.own === "none" ? "none" : Object.keys(row.own)[0], (value) => {
          row.own = value === "none" ? "none" : { [value]: { ...USUAL[value] } };
          draw();
          kept();
        })),
        row.own === "none" ? null : Object.entries(row.own).map(([name, given]) => form(known_rules[name].takes.filter((one) => one.required), given, { of: `rule.${name}`, all: true, changed: (values) => { row.own[name] = { ...given, ...values }; kept(); } })),
        el("button", { "aria-label": t("varying.remove", { code: row.code }), onclick: () => { rows.splice(i, 1); draw(); kept(); } }, "×"))),
      el("button", { onclick: () => {
        rows.push({ column: columns[0], code: "", own: { minimum_frequency: { n: 3 } } });
        if (rows.length === 1) rows.push({ column: columns[0], code: "*", own: "none" }); // every code must have a rule, or none
        draw();
      } }, t("varying.add")));
    }
    return el("fieldset", {}, el("legend", {}, t("rule.varying")), el("p", { class: "help" }, t("rule.varying_help")), body, each.varying);
  }

  // One question at a time: what is typed meanwhile is asked next.
  let asked = false;
  let again = false;
  async function changed() {
    if (asked) { again = true; return; }
    asked = true;
    do {
      again = false;
      await counted(() => post("rules", { table: known.table, rules }));
    } while (again);
    asked = false;
  }

  async function counted(call) {
    const told = await tried(call, wrong);
    count.textContent = told ? scaled(told.unsafe) : "–";
    share.textContent = told ? t("rules.of", { cells: scaled(told.cells), share: percent(told.unsafe / told.cells) }) : "";
    fill(warned, (told?.warnings || []).map((one) => el("p", { class: "warning" }, one)));
    for (const [name, place] of Object.entries(each)) {
      const found = told?.each[name];
      place.textContent = found === undefined ? "" : t("rules.alone", { cells: scaled(found) });
    }
    if (told) known.draft = { ...known.draft, tables: known.draft.tables.map((one, i) => (i === known.table ? { ...one, rules: structuredClone(rules) } : one)) };
  }
}
