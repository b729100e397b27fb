// The table as offices know it, with all that is known of the cell that is asked for.
import { get } from "./api.js";
import { panel } from "./cell.js";
import { add, byId, el, field, fill, select } from "./dom.js";
import { Grid, label } from "./grid.js";
import { printed } from "./paper.js";
import { known, tried } from "./state.js";
import { scaled, t } from "./words.js";

let shown = null;

export async function show(main) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  add(main, el("h2", {}, t("table.heading")), wrong);
  const told = await tried(() => get(`table?table=${known.table}`), wrong);
  if (!told) return;
  const side = el("aside", { class: "card panel", "aria-label": t("cell.heading") }, el("p", { class: "muted" }, t("cell.none")));
  const grid = new Grid(told, (at) => panel(side, at, grid));
  shown = { told, grid };
  const counts = count(told.states);
  const where = el("div", { class: "row" });
  add(main,
    el("p", { class: "lead" }, t(told.changed !== null ? "table.changed" : told.protected ? "table.protected" : "table.open", { changed: scaled(told.changed ?? 0),
      cells: scaled(told.states.length), primary: scaled(counts.P), secondary: scaled(counts.S) })),
    told.stale ? el("p", { class: "wrong" }, t("table.stale")) : null,
    where, legend(told.protected), el("div", { class: "split" }, grid.view, side));
  choose(where, told, grid);
  grid.draw(); // now that it has a size: what is called ready is to be seen
}

function count(states) {
  const found = { P: 0, S: 0, E: 0, F: 0 };
  for (const one of states) if (one in found) found[one] += 1;
  return found;
}

function legend(isProtected) {
  const letters = isProtected ? ["P", "S", "F", "E"] : ["P", "F", "E"];
  return el("ul", { class: "legend", "aria-label": t("table.legend") }, letters.map((one) =>
    el("li", {}, el("b", { class: one }, t(`letter.${one}`)), t(`state.${one}`))));
}

// Which dimensions go down and across, and where the others stand.
function choose(place, told, grid) {
  const names = told.dimensions.map((one, i) => [String(i), one.name]);
  const turned = (key) => (value) => {
    const wanted = Number(value);
    const other = key === "rows" ? "columns" : "rows";
    if (grid[other] === wanted) grid[other] = grid[key];
    grid[key] = wanted;
    grid.view.scrollTo(0, 0);
    grid.lay();
    choose(place, told, grid);
  };
  fill(place);
  if (names.length > 1) {
    add(place, field(t("table.rows"), select(names, String(grid.rows), turned("rows"))),
      field(t("table.columns"), select(names, String(grid.columns), turned("columns"))));
  }
  told.dimensions.forEach((one, i) => {
    if (i === grid.rows || i === grid.columns) return;
    const codes = one.codes.map((_, at) => [String(at), "\u00a0\u00a0".repeat(one.levels[at]) + label(one, at)]);
    add(place, field(one.name, select(codes, String(grid.fixed[i]), (value) => { grid.fixed[i] = Number(value); grid.lay(); })));
  });
  add(place, 
    el("button", { id: "next-hidden", onclick: () => next(told, grid) }, t("table.next")),
    el("button", { onclick: () => { paper(); window.print(); } }, t("table.print")));
}

// Go to the next hidden cell after the one that is pointed at.
function next(told, grid) {
  const from = grid.place(...grid.here);
  const { states } = told;
  for (let step = 1; step <= states.length; step += 1) {
    const at = (from + step) % states.length;
    if (states[at] === "P" || states[at] === "S") {
      const fixed = String(grid.fixed);
      grid.find(at);
      if (String(grid.fixed) !== fixed) choose(byId("next-hidden").parentElement, told, grid);
      grid.view.focus();
      grid.opened(at);
      return;
    }
  }
}

function paper() {
  if (shown && document.body.contains(shown.grid.view)) byId("paper").replaceChildren(printed(shown.told, shown.grid));
  else byId("paper").replaceChildren();
}

addEventListener("beforeprint", paper);
