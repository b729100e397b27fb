// How easily records are recognised by their keys; the number follows while one types.
import { get } from "./api.js";
import { add, el, field } from "./dom.js";
import { change, known, tried } from "./state.js";
import { steps } from "./step_steps.js";
import { number, percent, scaled, t } from "./words.js";

export async function show(main, go) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const count = el("output", { class: "big", id: "below", "aria-live": "polite" }, "…");
  const more = el("div");
  const k = el("input", { type: "number", min: 2, step: 1, value: known.draft.release?.claims?.k_anonymity?.k ?? 3, oninput: typed });
  add(main, el("h2", {}, t("risk.heading")), el("p", { class: "lead" }, t("risk.lead")),
    el("section", { class: "card", "aria-label": t("risk.below") }, field(t("risk.k"), k), el("div", {}, t("risk.below")), count, wrong, more),
    el("button", { class: "main", onclick: () => go("protect") }, t("next.protect")));
  const told = await tried(() => get("columns"), wrong);
  const numbers = (told?.columns || []).filter((one) => one.numeric && (known.draft.roles.keys || []).includes(one.name));
  if (numbers.length) main.querySelector(".card").after(el("section", { class: "card row" }, numbers.map((one) => field(t("risk.width", { name: one.name }), width(one.name)))));
  const todo = el("section", { class: "card", id: "steps-of" });
  main.querySelector("button.main").before(todo);
  await steps(todo, (told?.columns || []).map((one) => one.name), counted, wrong);
  await counted();

  // Numbers are rounded: a step before values are suppressed.
  function width(name) {
    const mine = (one) => one.do === "recode" && one.variable === name;
    const input = el("input", { type: "number", min: 1, step: 1, value: (known.draft.steps || []).find(mine)?.width ?? 1,
      onchange: () => tried(async () => {
        await change((draft) => {
          const others = (draft.steps || []).filter((one) => !mine(one));
          draft.steps = input.valueAsNumber > 1 ? [{ do: "recode", variable: name, width: input.valueAsNumber }, ...others] : others;
        });
        await counted();
      }, wrong) });
    return input;
  }

  let asked = false;
  async function typed() {
    if (asked || !(k.valueAsNumber >= 2)) return;
    asked = true;
    for (let last = 0; last !== k.valueAsNumber;) {
      last = k.valueAsNumber;
      const ok = await tried(async () => {
        await change((draft) => {
          draft.release.claims = { ...draft.release.claims, k_anonymity: { ...draft.release.claims?.k_anonymity, k: last } };
          for (const one of draft.steps || []) if (one.do === "local_suppression") one.k = last;
        }, "k");
        return true;
      }, wrong);
      if (ok) await counted();
    }
    asked = false;
  }

  async function counted() {
    const told = await tried(() => get(`risk?k=${k.valueAsNumber}`), wrong);
    count.textContent = told ? scaled(told.below) : "–";
    more.replaceChildren();
    if (!told) return;
    add(more, el("p", { class: "muted" }, t("risk.of", { records: scaled(told.records), share: percent(told.below / told.records) })),
      el("p", {}, t("risk.expected", { expected: number(told.expected, 1), largest: percent(told.largest) })),
      el("table", { class: "plain" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("risk.alike")), el("th", { scope: "col", class: "number" }, t("cell.count")),
        el("td", {}))), el("tbody", {}, told.groups.map((one) => {
        const bar = el("span", { class: "bar" });
        bar.style.width = `${(100 * one.records) / told.records}%`;
        const name = one.to === null ? `${one.from}+` : one.from === one.to ? `${one.from}` : `${one.from}–${one.to}`;
        return el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "number" }, scaled(one.records)), el("td", {}, el("div", { class: "track" }, bar)));
      }))));
  }
}
