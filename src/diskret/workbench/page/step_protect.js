// Carry out the job, as the command line does; told how far it is, and stopped if asked.
import { get, post } from "./api.js";
import { add, choice, el, field, fill, select } from "./dom.js";
import { change, known, table, tried } from "./state.js";
import { fields, offered, set as protectBy } from "./noise.js";
import { number, percent, scaled, t } from "./words.js";

const FORMATS = ["csv", "parquet", "xlsx", "html", "px", "jsonstat", "sdmx1", "sdmx2"];
const METHODS = ["auto", "optimal", "sequential", "modular", "hypercube"];

export async function show(main, go) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const progress = el("div", { id: "progress" });
  const start = el("button", { class: "main", onclick: begin }, t("protect.start"));
  const stop = el("button", { disabled: true, onclick: () => tried(() => post("cancel"), wrong) }, t("protect.cancel"));
  add(main, el("h2", {}, t(known.draft.roles ? "protect.heading_records" : "protect.heading")), el("p", { class: "lead" }, t(known.draft.roles ? "protect.lead_records" : "protect.lead")),
    known.draft.roles ? settingsOfRecords(wrong) : settings(wrong), el("div", { class: "row" }, start, stop), wrong, progress);
  const told = await tried(() => get("run"), wrong);
  if (told && told.state !== "none") follow(told);

  async function begin() {
    start.disabled = true;
    const first = await tried(() => post("protect"), wrong);
    if (first) follow(first);
    else start.disabled = false;
  }

  async function follow(told) {
    while (told && told.state === "running" && main.contains(progress)) {
      start.disabled = true;
      stop.disabled = false;
      fill(progress, el("section", { class: "card" }, told.tasks.length ? told.tasks.map(bar) : t("protect.begun")));
      await new Promise((done) => setTimeout(done, 250));
      told = await tried(() => get("run"), wrong);
    }
    start.disabled = false;
    stop.disabled = true;
    if (told) fill(progress, ended(told, go));
  }
}

function bar(one) {
  return el("div", {}, el("div", {}, one.task, el("span", { class: "muted" }, ` ${scaled(one.done)}/${scaled(one.total)}`)),
    el("progress", { value: one.done, max: Math.max(one.total, 1), "aria-label": one.task }));
}

function ended(told, go) {
  const box = el("section", { class: "card", id: "ended", "data-state": told.state }, el("h3", {}, t(`protect.${told.state}`)));
  if (told.messages.length) add(box, el("pre", { tabIndex: 0 }, told.messages.join("\n")));
  if (told.state !== "done") return box;
  add(box, el("p", {}, t("protect.folder", { folder: told.folder })));
  for (const part of ["public", "internal"]) {
    add(box, el("p", {}, el("strong", {}, t(`protect.${part}`)), " ", told.files[part].join(", ")));
  }
  if (told.tries?.length) add(box, tries(told.tries));
  add(box, el("button", { class: "main", onclick: () => go(known.draft.roles ? "compare" : "table") }, t(known.draft.roles ? "next.compare" : "next.table")), " ",
    el("button", { onclick: () => go("export") }, t("next.export")));
  return box;
}

// What each run has hidden under which rules: what safety costs.
function tries(all) {
  const heads = ["rules", "method", "primaries", "secondaries", "cost", "gap"];
  const numbers = heads.slice(2);
  const shown = (one) => [one.rules, t(`method.${one.method}`), scaled(one.primaries), scaled(one.secondaries),
    number(one.cost_of_secondaries), one.gap === null ? "–" : percent(one.gap)];
  return [el("h3", {}, t("tries.heading")), el("p", { class: "help" }, t("tries.help")), el("div", { class: "wide" }, el("table", { class: "plain" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("ledger.table")), heads.map((name) => el("th", { scope: "col", class: numbers.includes(name) ? "number" : "" }, t(`tries.${name}`))))),
    el("tbody", {}, all.map((one) => el("tr", {}, el("th", { scope: "row" }, one.name), shown(one).map((text, i) => el("td", { class: i > 1 ? "number" : "" }, text)))))))];
}

function settingsOfRecords(wrong) {
  const { release } = known.draft;
  const folder = el("input", { type: "text", value: release.folder || "out",
    onchange: () => tried(() => change((draft) => { draft.release.folder = folder.value.trim() || "out"; }), wrong) });
  return el("section", { class: "card row" }, field(t("protect.where"), folder),
    field(t("protect.language"), select([["de", "Deutsch"], ["en", "English"]], release.language || "en",
      (value) => tried(() => change((draft) => { draft.release.language = value; }), wrong))),
    known.draft.roles.weight ? choice(t("protect.weight"), { checked: release.weight !== false,
      onchange: (event) => tried(() => change((draft) => { if (event.target.checked) delete draft.release.weight; else draft.release.weight = false; }), wrong) }) : null);
}

function settings(wrong) {
  const output = known.draft.output || {};
  const formats = output.formats || ["csv", "xlsx"];
  const set = (by) => tried(() => change((draft) => { draft.output ||= {}; by(draft.output, draft); }), wrong);
  const noise = el("div", { id: "noise" });
  const way = [...METHODS.map((one) => [one, t(`method.${one}`)]), ...offered().map((one) => [one, t(`noise.${one}`)])];
  const chosen = table()?.noise?.method || table()?.method || "auto";
  fields(noise, wrong);
  const folder = el("input", { type: "text", value: output.folder || "out", onchange: () => set((one) => { one.folder = folder.value.trim() || "out"; }) });
  return el("section", { class: "card" }, el("div", { class: "row" },
    field(t("protect.where"), folder),
    field(t("protect.language"), select([["de", "Deutsch"], ["en", "English"]], output.language || "en", (value) => set((one) => { one.language = value; }))),
    field(t("protect.method"), select(way, chosen, async (value) => {
      await tried(() => change((draft) => protectBy(draft, value)), wrong);
      fields(noise, wrong);
    }, { id: "way" }))), noise,
  el("fieldset", {}, el("legend", {}, t("protect.formats")), FORMATS.map((one) => choice(t(`format.${one}`), {
    value: one, checked: formats.includes(one), onchange: (event) => set((out) => {
      const now = out.formats || ["csv", "xlsx"];
      const wanted = (name) => (name === one ? event.target.checked : now.includes(name));
      out.formats = [...FORMATS.filter(wanted), ...now.filter((name) => !FORMATS.includes(name))];
    }) }))),
  field(t("protect.agency"), el("input", { type: "text", size: 10, value: output.agency || "", onchange: (event) => set((one) => {
    if (event.target.value.trim()) one.agency = event.target.value.trim();
    else delete one.agency;
  }) })),
  output.ledger ? el("p", { class: "help" }, t("protect.ledger", { ledger: output.ledger })) : null);
}
