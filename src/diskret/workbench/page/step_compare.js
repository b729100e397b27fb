// The keys before and after: what was suppressed or recoded, as bars beside each other.
import { get } from "./api.js";
import { add, el } from "./dom.js";
import { tried } from "./state.js";
import { scaled, t } from "./words.js";

export async function show(main) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  add(main, el("h2", {}, t("compare.heading")), el("p", { class: "lead" }, t("compare.lead")), wrong);
  const told = await tried(() => get("compare"), wrong);
  for (const one of told || []) {
    const most = Math.max(1, one.missing.after, ...one.codes.flatMap((code) => [code.before, code.after]));
    const rows = [...one.codes, { code: t("compare.missing"), ...one.missing }];
    add(main, el("section", { class: "card wide" }, el("h3", {}, one.name), el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, one.name), ["before", "after"].map((when) => [el("th", { scope: "col", class: "number" }, t(`compare.${when}`)), el("td", {})]))),
      el("tbody", {}, rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.code), ["before", "after"].map((when) => {
        const bar = el("span", { class: "bar" });
        bar.style.width = `${(100 * row[when]) / most}%`;
        return [el("td", { class: "number" }, scaled(row[when])), el("td", {}, el("div", { class: "track" }, bar))];
      }))))), one.left_out ? el("p", { class: "help" }, t("compare.left_out", { codes: scaled(one.left_out) })) : null));
  }
}
