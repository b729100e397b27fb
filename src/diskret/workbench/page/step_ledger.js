// What was published before, what of it the tables of the job touch, and a dry run beside it.
import { get, post } from "./api.js";
import { add, el, field, fill, select } from "./dom.js";
import { change, known, learnt, tried } from "./state.js";
import { scaled, t } from "./words.js";

export async function show(main, go) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const output = known.draft.output || {};
  const files = ((await tried(() => get("files"), wrong)) || []).filter((one) => one.kind === "db").map((one) => [one.path, one.name]);
  const again = () => go("ledger");
  const set = (key, value) => tried(async () => {
    await change((draft) => {
      draft.output ||= {};
      if (value) draft.output[key] = value;
      else delete draft.output[key];
      if (key === "ledger" && !value) delete draft.output.release;
    });
    again();
  }, wrong);
  const fresh = el("input", { type: "text", value: "releases.db" });
  const release = el("input", { type: "text", value: output.release || "", onchange: () => set("release", release.value.trim()) });
  const names = [["", t("ledger.none")], ...files];
  if (output.ledger && !files.some(([path]) => path === output.ledger)) names.push([output.ledger, output.ledger]);
  add(main, el("h2", {}, t("ledger.heading")), el("p", { class: "lead" }, t("ledger.lead")), wrong,
    el("section", { class: "card row" }, field(t("ledger.file"), select(names, output.ledger || "", (value) => set("ledger", value))),
      output.ledger ? field(t("ledger.release"), release) : [field(t("ledger.new"), fresh),
        el("button", { onclick: () => tried(async () => { learnt(await post("ledger", { name: fresh.value.trim() })); again(); }, wrong) }, t("ledger.create"))]));
  if (!output.ledger) return;
  const told = await tried(() => get("ledger"), wrong);
  if (!told) return;
  const headings = ["name", "when", "who", "table", "about", "cells", "hidden", "tied"];
  const rows = told.flatMap((one) => one.tables.map((table, i) => el("tr", {},
    el("th", { scope: "row" }, i ? "" : one.name + (one.withdrawn ? ` (${t("ledger.withdrawn", { when: one.withdrawn.when })})` : "")),
    el("td", {}, i ? "" : one.when), el("td", {}, i ? "" : one.who), el("td", {}, table.name),
    el("td", {}, [table.measure, table.variables.join(" × "), table.vintage, table.where].filter(Boolean).join(", ")),
    el("td", { class: "number" }, scaled(table.cells)), el("td", { class: "number" }, scaled(table.suppressed)),
    el("td", {}, table.tied.join(", ") || "–"))));
  const found = el("div", { id: "checked" });
  add(main, el("div", { class: "card wide" }, rows.length ? el("table", { class: "plain" }, el("thead", {}, el("tr", {}, headings.map((one) =>
    el("th", { scope: "col", class: ["cells", "hidden"].includes(one) ? "number" : "" }, t(`ledger.${one}`))))), el("tbody", {}, rows)) : t("ledger.empty")),
  el("p", {}, el("button", { id: "rehearse", onclick: () => check(found, "ledger/rehearsal") }, t("ledger.rehearse")), " ",
    el("button", { onclick: () => check(found, "ledger/check") }, t("ledger.check"))), el("p", { class: "help" }, t("ledger.rehearse_help"), " ", t("ledger.check_help")), found);
}

async function check(place, path) {
  let told = await tried(() => post(path), place);
  while (told && told.state === "running") {
    fill(place, el("p", { role: "status" }, t("cell.trying")));
    await new Promise((done) => setTimeout(done, 250));
    told = await tried(() => get(path), place);
  }
  if (!told) return;
  const tables = (told.tables || []).map((one) => el("li", {}, t("ledger.would_hide", { name: one.name, primaries: scaled(one.primaries), secondaries: scaled(one.secondaries) })));
  fill(place, el("div", { "data-state": told.state }, told.state === "done" && told.tables ? el("p", {}, t("ledger.would_stand")) : null, el("ul", {}, tables),
    told.messages.length ? el("pre", { tabIndex: 0 }, told.messages.join("\n")) : null));
}
