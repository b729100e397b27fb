// What can be told of the hidden cells: by everybody, or by whoever knows more; also before protecting.
import { get, post } from "./api.js";
import { add, el, field, fill, select } from "./dom.js";
import { change, known, tried } from "./state.js";
import { number, percent, scaled, t } from "./words.js";

const ROWS = 500;

export async function show(main) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const place = el("div", { id: "attacked" });
  const done = (await tried(() => get(`table?table=${known.table}`), wrong))?.protected;
  const attacker = known.draft.attacker || {};
  const asked = { hidden: done ? "run" : "rules" };
  const relative = el("input", { type: "number", min: 0, step: "any", value: attacker.relative ?? "", placeholder: t("attack.nothing") });
  const zeros = el("input", { type: "checkbox", checked: Boolean(attacker.zeros_known) });
  const knows = () => ({ ...(relative.valueAsNumber > 0 ? { relative: relative.valueAsNumber } : {}), ...(zeros.checked ? { zeros_known: true } : {}) });
  const hidden = select([["run", t("attack.run")], ["rules", t("attack.rules")]], asked.hidden, (value) => { asked.hidden = value; });
  const attack = async () => {
    place.setAttribute("aria-busy", "true");
    const told = await tried(() => post("attack", { table: known.table, ...asked, ...knows() }), wrong);
    place.removeAttribute("aria-busy");
    fill(place, told ? rows(told) : null);
  };
  const write = () => tried(async () => {
    await change((draft) => {
      const { relative: _a, zeros_known: _b, ...others } = draft.attacker || {};
      draft.attacker = { ...others, ...knows() };
      if (!Object.keys(draft.attacker).length) delete draft.attacker;
    });
    said.textContent = t("attack.written");
  }, wrong);
  const said = el("span", { class: "muted", role: "status" });
  add(main, el("h2", {}, t("attack.heading")), el("p", { class: "lead" }, t("attack.lead")),
    el("section", { class: "card", "aria-label": t("attack.who") }, el("div", { class: "row" }, field(t("attack.hidden"), hidden), field(t("attack.relative"), relative)),
      el("p", {}, el("label", { class: "choice" }, zeros, t("attack.zeros_known"))),
      el("p", {}, el("button", { id: "attack", class: "main", onclick: attack }, t("attack.attack")), " ", el("button", { onclick: write }, t("attack.write")), " ", said)),
    wrong, place);
  await attack();
}

function rows(told) {
  const names = Object.keys(known.draft.tables[known.table].by);
  const numbers = ["value", "lower", "upper", "near"];
  const close = told.cells.filter((one) => one.close).length;
  return [el("p", {}, t("attack.cells", { cells: scaled(told.cells.length) })),
    close ? el("p", { class: "wrong", id: "close" }, t("attack.close", { cells: scaled(close) })) : null,
    el("div", { class: "card wide" }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, names.map((one) => el("th", { scope: "col" }, one)), el("th", { scope: "col" }, t("cell.state")),
        numbers.map((one) => el("th", { scope: "col", class: "number" }, t(`attack.${one}`))), el("th", { scope: "col" }, t("attack.verdict")))),
      el("tbody", {}, told.cells.slice(0, ROWS).map((one) => el("tr", {}, one.codes.map((code) => el("td", {}, code)),
        el("td", {}, t(`state.${one.primary ? "P" : "S"}`)),
        numbers.map((key) => el("td", { class: "number" }, key === "near" ? (one.near === null ? "–" : percent(one.near)) : number(one[key]))),
        el("td", {}, one.close ? t("attack.too_close") : ""))))))];
}
