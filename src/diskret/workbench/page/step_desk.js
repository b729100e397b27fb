// The checker's desk: results of researchers that wait, with their reasons; decided here.
import { get, post } from "./api.js";
import { add, el, field, fill } from "./dom.js";
import { known, tried } from "./state.js";
import { t } from "./words.js";

const where = () => `place_of=${encodeURIComponent(known.desk)}`;

export async function show(main) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const one = el("div", { id: "result" });
  const rows = el("tbody");
  add(main, el("h2", {}, t("desk.heading")), el("p", { class: "lead" }, t("desk.lead", { ledger: known.desk })), wrong);
  const told = await tried(() => get(`desk?${where()}`), wrong);
  if (!told) return;
  for (const item of told) {
    add(rows, el("tr", {}, el("td", {}, item.project), el("th", { scope: "row" },
      el("button", { class: "link", onclick: () => opened(one, item, wrong) }, item.result)), el("td", {}, item.state), el("td", {}, item.verdict)));
  }
  const heads = ["project", "result", "state", "verdict"].map((name) => el("th", { scope: "col" }, t(`desk.${name}`)));
  add(main, el("div", { class: "card wide" }, told.length ? el("table", { class: "plain" }, el("thead", {}, el("tr", {}, heads)), rows) : t("desk.none")), one);
}

async function opened(place, item, wrong) {
  const path = `desk/result?${where()}&project=${encodeURIComponent(item.project)}&result=${encodeURIComponent(item.result)}`;
  const told = await tried(() => get(path), wrong);
  if (told) drawn(place, item, told);
}

function drawn(place, item, told) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const why = el("input", { type: "text", size: 50 });
  const who = el("input", { type: "text", size: 14 });
  const act = (what) => tried(async () => {
    const asked = { place_of: known.desk, project: item.project, result: item.result, what, why: why.value.trim(), who: who.value.trim() };
    drawn(place, item, await post("desk/result", asked));
  }, wrong);
  fill(place, el("section", { class: "card", "aria-label": item.result }, el("h3", {}, item.result), el("pre", { tabIndex: 0 }, told.summary),
    told.files.map((file) => [el("h3", {}, file.name), file.text === null ? null : el("pre", { tabIndex: 0 }, file.text)]),
    el("h3", {}, t("desk.history")), el("ul", {}, told.history.map((line) => el("li", {}, line))),
    el("div", { class: "row" }, field(t("desk.why"), why), field(t("desk.who"), who)),
    el("p", {}, ["accept", "refuse", "return", "comment"].map((what) => [el("button", { onclick: () => act(what) }, t(`desk.${what}`)), " "])), wrong));
}
