// Risk against loss: the draft carried out in several ways, each a job of its own, side by side.
import { get, post } from "./api.js";
import { best, scatter } from "./chart.js";
import { add, choice, el, field, fill, select } from "./dom.js";
import { known, learnt, table, tried } from "./state.js";
import { number, percent, scaled, t } from "./words.js";

const METHODS = ["auto", "sequential", "optimal", "modular", "hypercube"];
// Rule → the number of it that is varied.
const VARIED = { minimum_frequency: "n", p_percent: "p", pq: "p", dominance: "k", group_disclosure: "percent" };
// Cells up to which the optimal pattern is offered by itself.
const SMALL = 2000;
const WITHIN = ["1", "2", "5", "10", "20", "50"];
const near = () => (within === "best" ? "10" : within);

let within = "best";
let loss = "lost";

export async function show(main, go) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const found = el("div", { id: "ways" });
  const offered = known.draft.roles ? ofRecords() : await ofTables();
  const start = el("button", { class: "main", onclick: begin }, t("ways.start"));
  const stop = el("button", { disabled: true, onclick: () => tried(() => post("cancel"), wrong) }, t("protect.cancel"));
  add(main, el("h2", {}, t("ways.heading")), el("p", { class: "lead" }, t(known.draft.roles ? "ways.lead_records" : "ways.lead")),
    el("section", { class: "card", "aria-label": t("ways.which") }, offered.form), el("div", { class: "row" }, start, stop), wrong, found);
  const told = await tried(() => get(`ways?table=${known.table}`), wrong);
  if (told && told.state !== "none") await follow(told);

  async function begin() {
    start.disabled = true;
    const first = await tried(() => post("ways", { table: known.table, ways: offered.ways() }), wrong);
    start.disabled = false;
    if (first) follow(first);
  }

  async function follow(first) {
    let told = first;
    drawn(told);
    while (told && told.state === "running" && main.contains(found)) {
      start.disabled = true;
      stop.disabled = false;
      await new Promise((done) => setTimeout(done, 250));
      const before = told.ways.length;
      told = await tried(() => get(`ways?table=${known.table}`), wrong);
      if (told && (told.ways.length !== before || told.state !== "running")) drawn(told);
    }
    start.disabled = false;
    stop.disabled = true;
  }

  function drawn(told) {
    const good = told.ways.filter((one) => one.figures);
    fill(found, told.state === "running" ? el("p", { role: "status" }, t("ways.trying", { done: told.ways.length + 1, of: told.of })) : null,
      good.length ? pictured(good, () => drawn(told)) : null,
      good.length ? figures(good, go, wrong) : null,
      told.ways.filter((one) => !one.figures).map((one) => el("div", { class: "card" }, el("strong", {}, named(one.way)), " ",
        t(one.state === "cancelled" ? "protect.cancelled" : one.state === "done" ? "ways.no_figures" : "protect.failed"),
        one.messages.length ? el("pre", { tabIndex: 0 }, one.messages.join("\n")) : null)));
    found.dataset.state = told.state;
  }
}

// How well the unsafe cell is known that is known best, or how many are known to within some percent.
const precision = (figures) => (figures.closest === null ? 0 : Math.max(0, 1 - figures.closest));
const risk = (one) => (known.draft.roles ? one.figures.expected / Math.max(one.figures.cells, 1)
  : within === "best" ? precision(one.figures) : one.figures.near[within] / Math.max(one.figures.unsafe, 1));
const ofRisk = () => (known.draft.roles ? "ways.risk_records" : within === "best" ? "ways.precision" : "ways.risk");
const lost = (one) => (loss === "lost" ? one.figures.lost : (one.figures.hidden + (one.figures.changed || 0)) / one.figures.cells);

function pictured(good, again) {
  const points = good.map((one) => ({ name: named(one.way), x: 100 * lost(one), y: 100 * risk(one) }));
  const losses = ["lost", "cells"].map((name) => [name, t(`ways.${name}`)]);
  return el("section", { class: "card" }, el("div", { class: "row" },
    known.draft.roles ? null : field(t("ways.of_risk"), select([["best", t("ways.precision")], ...WITHIN.map((one) => [one, t("ways.risk", { within: one })])], within, (value) => { within = value; again(); })),
    known.draft.roles ? null : field(t("ways.loss"), select(losses, loss, (value) => { loss = value; again(); }))),
  scatter(points, { name: t("ways.picture"), x: `${t(known.draft.roles ? "ways.lost_records" : `ways.${loss}`)}, %`, y: `${t(ofRisk(), { within })}, %` }),
  el("p", { class: "help" }, t("ways.front")));
}

function figures(good, go, wrong) {
  const columns = known.draft.roles ? ["hidden", "lost_records", "risk_records"] : ["hidden", "changed", "lost", "risk", "closest"];
  const shown = (one) => (known.draft.roles
    ? [scaled(one.figures.hidden), percent(one.figures.lost), `${number(one.figures.expected, 1)} (${percent(risk(one))})`]
    : [scaled(one.figures.hidden), scaled(one.figures.changed), percent(one.figures.lost), `${scaled(one.figures.near[near()])} / ${scaled(one.figures.unsafe)}`,
      one.figures.closest === null ? "–" : `± ${percent(one.figures.closest)}`]);
  const front = best(good.map((one) => ({ x: lost(one), y: risk(one) })));
  const take = (one) => tried(async () => {
    learnt(await post("ways/take", { way: one.way }));
    go("protect");
  }, wrong);
  return el("div", { class: "card wide" }, el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("ways.way")), columns.map((name) => el("th", { scope: "col", class: "number" }, t(`ways.${name}`, { within: near() }))), el("td", {}))),
    el("tbody", {}, good.map((one, i) => el("tr", {}, el("th", { scope: "row" }, named(one.way), front[i] ? el("span", { class: "muted" }, ` ${t("ways.on_front")}`) : null),
      shown(one).map((text) => el("td", { class: "number" }, text)),
      el("td", {}, Object.keys(one.way).length ? el("button", { onclick: () => take(one), "aria-label": t("ways.take_it", { way: named(one.way) }) }, t("ways.take")) : null))))));
}

function named(way) {
  if (way.method) return t(`method.${way.method}`);
  if (way.noise) return [t(`noise.${way.noise.method}`), way.noise.base, way.noise.max_noise].filter((one) => one !== undefined).join(" ");
  if (way.rule) return `${t(`rule.${way.rule}`)}, ${way.key} = ${number(way.value)}`;
  if (way.k) return `k = ${way.k}`;
  return t("ways.as_it_is");
}

async function ofTables() {
  const all = known.draft.tables;
  const size = (await tried(() => get(`unsafe?table=${known.table}`)))?.cells ?? SMALL + 1;
  const methods = Object.fromEntries(METHODS.map((one) => [one, el("input", { type: "checkbox", checked: one === "auto" || one === "hypercube" || one === "sequential" || (one === "optimal" && size <= SMALL) })]));
  const base = el("input", { type: "text", size: 10, value: "", placeholder: "3, 5" });
  const unit = table().unit;
  const keyed = !table().value && unit ? el("input", { type: "checkbox" }) : null;
  const adjusted = el("input", { type: "checkbox" });
  const rules = Object.entries(VARIED).filter(([name]) => all.some((one) => one.rules && name in one.rules))
    .map(([name, key]) => [name, key, el("input", { type: "text", size: 12, placeholder: "5, 10, 20" })]);
  const form = [el("fieldset", {}, el("legend", {}, t("ways.methods")), Object.entries(methods).map(([name, box]) => el("label", { class: "choice" }, box, t(`method.${name}`)))),
    el("fieldset", {}, el("legend", {}, t("ways.changing")), el("div", { class: "row" }, field(t("ways.bases"), base)),
      el("p", {}, el("label", { class: "choice" }, adjusted, t("noise.adjustment")), keyed ? el("label", { class: "choice" }, keyed, t("noise.cell_key")) : null)),
    rules.length ? el("fieldset", {}, el("legend", {}, t("ways.numbers")), el("div", { class: "row" }, rules.map(([name, key, input]) => field(`${t(`rule.${name}`)}, ${key}`, input)))) : null];
  const ways = () => [...(all.some((one) => one.noise) ? [{}] : []),
    ...METHODS.filter((one) => methods[one].checked).map((method) => ({ method })),
    ...numbers(base).map((one) => ({ noise: { method: "controlled", base: one } })),
    ...(adjusted.checked ? [{ noise: { method: "adjustment" } }] : []),
    ...(keyed?.checked ? [{ noise: { method: "cell_key", key_of: unit, max_noise: 5, variance: 3 } }] : []),
    ...rules.flatMap(([rule, key, input]) => numbers(input).map((value) => ({ rule, key, value })))];
  return { form, ways };
}

function ofRecords() {
  const k = el("input", { type: "text", size: 14, value: "2, 3, 5, 10" });
  return { form: el("div", { class: "row" }, field(t("ways.k"), k)), ways: () => [{}, ...numbers(k).map((one) => ({ k: one }))] };
}

const numbers = (input) => input.value.split(/[;\s]+|,\s*/).filter(Boolean).map(Number).filter((one) => Number.isFinite(one) && one > 0);
