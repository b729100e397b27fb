// All that is known of one cell: who contributes what, the rule, the interval, and why it is hidden.
import { get, post } from "./api.js";
import { el, fill } from "./dom.js";
import { change, known, tried } from "./state.js";
import { number, percent, scaled, t } from "./words.js";

let asked = 0;

export async function panel(side, at, grid) {
  const mine = (asked += 1);
  const wrong = el("p", { class: "wrong", role: "alert" });
  const told = await tried(() => get(`cell?table=${known.table}&at=${at}`), wrong);
  if (mine !== asked) return;
  if (!told) { fill(side, wrong); return; }
  const { state } = told;
  fill(side,
    el("h3", {}, told.codes.map((one) => one.code).join(" · ")),
    el("p", { class: "muted" }, told.codes.map((one) => `${one.name}: ${one.label && one.label !== one.code ? one.label : one.code}`).join(", ")),
    list([
      [t("cell.state"), t(`state.${state}`)], [t("cell.value"), number(told.value)],
      "published" in told ? [t("cell.published"), number(told.published)] : null,
      ...Object.entries(told.counts).map(([key, one]) => [t(`cell.${key}`), scaled(one)]),
      told.rule ? [t("cell.rule"), t(`rule.${told.rule}`)] : null,
      told.levels ? [t("cell.levels"), `−${number(told.levels.lower)} / +${number(told.levels.upper)}`] : null,
      told.interval ? [t("cell.interval"), `${number(told.interval[0])} … ${number(told.interval[1])}`] : null,
    ]), shares(told.contributions), reasons(told), wrong, actions(told, grid, side));
}

const list = (rows) => el("dl", {}, rows.filter(Boolean).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

function shares(contributions) {
  if (!contributions.length) return null;
  return [el("h3", {}, t("cell.contributions")), el("table", { class: "plain" }, el("tbody", {}, contributions.map((one, i) => {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${Math.max(1, 100 * one.share)}%`;
    return el("tr", {}, el("th", { scope: "row" }, `${i + 1}.`), el("td", { class: "number" }, number(one.value)),
      el("td", {}, el("div", { class: "track" }, bar)), el("td", { class: "number" }, percent(one.share)));
  })))];
}

function reasons(told) {
  if (!told.why) return null;
  return [el("h3", {}, t("cell.why")), el("p", {}, t("cell.needed")), el("ul", {}, told.why.slice(0, 12).map((one) =>
    el("li", {}, `${one.for.join(" · ")}: ${t("cell.would_be", { lower: number(one.lower), upper: number(one.upper) })}`)))];
}

function actions(told, grid, side) {
  const frozen = told.state === "F";
  const codes = Object.fromEntries(told.codes.map((one) => [one.name, one.code]));
  const same = (one) => Object.entries(codes).every(([name, code]) => one.at[name] === code);
  const place = el("div", { id: "whatif" });
  const freeze = () => tried(async () => {
    await change((draft) => {
      const mine = draft.tables[known.table];
      const others = (mine.frozen || []).filter((one) => !same(one));
      mine.frozen = frozen ? others : [...others, { at: codes }];
      if (!mine.frozen.length) delete mine.frozen;
    });
    const fresh = await get(`table?table=${known.table}`);
    Object.assign(grid.told, fresh);
    grid.again();
    panel(side, told.at, grid);
  }, place);
  return el("div", {}, el("h3", {}, t("cell.actions")),
    told.state === "S" ? el("button", { onclick: () => whatIf(told, grid, place) }, t("cell.what_if")) : null, " ",
    told.state === "P" || told.state === "E" ? el("p", { class: "help" }, t(`cell.not_${told.state}`)) : el("button", { onclick: freeze }, t(frozen ? "cell.thaw" : "cell.freeze")),
    place);
}

// Protect once more with this cell shown, in a folder of its own, and say what else changes.
async function whatIf(told, grid, place) {
  let found = await tried(() => post("whatif", { table: known.table, at: told.at }), place);
  while (found && found.state === "running") {
    fill(place, el("p", { role: "status" }, t("cell.trying")));
    await new Promise((done) => setTimeout(done, 250));
    found = await tried(() => get(`whatif?table=${known.table}`), place);
  }
  if (!found) return;
  if (found.state !== "done") { fill(place, el("p", { class: "wrong" }, found.messages.join(" ") || t(`protect.${found.state}`))); return; }
  grid.marks = { hidden: new Set(found.hidden), shown: new Set(found.shown) };
  grid.again();
  fill(place, el("p", { id: "whatif-found" }, t("cell.instead", { hidden: scaled(found.hidden.length), shown: scaled(found.shown.length) })),
    el("ul", {}, found.hidden.slice(0, 12).map((at) => el("li", {}, el("button", { class: "link", onclick: () => grid.find(at) }, codesAt(grid, at))))));
}

function codesAt(grid, at) {
  return grid.told.dimensions.map((one, i) => one.codes[Math.floor(at / grid.strides[i]) % grid.shape[i]]).join(" · ");
}
