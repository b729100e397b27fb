// The part of a table that is shown, for paper: plain rows, letters in place of colours.
import { el } from "./dom.js";
import { label } from "./grid.js";
import { scaled, t } from "./words.js";

const ROWS = 5000;
const COLUMNS = 40;

export function printed(told, grid) {
  const down = told.dimensions[grid.rows];
  const across = grid.columns === null ? null : told.dimensions[grid.columns];
  const wide = Math.min(grid.wide, COLUMNS);
  const high = Math.min(grid.high, ROWS);
  const names = Array.from({ length: wide }, (_, i) => (across ? label(across, i) : told.measure));
  const body = el("tbody");
  for (let row = 0; row < high; row += 1) {
    const line = el("tr", {}, el("th", { scope: "row" }, "  ".repeat(down.levels[row]) + label(down, row)));
    for (let column = 0; column < wide; column += 1) {
      const at = grid.place(row, column);
      const state = told.states[at];
      const mark = state === "." || state === "E" ? "" : `${t(`letter.${state}`)} `;
      line.append(el("td", {}, state === "E" ? "–" : mark + scaled(told.value[at], told.decimals)));
    }
    body.append(line);
  }
  const cut = high < grid.high || wide < grid.wide;
  return el("div", {}, el("h2", {}, told.name), el("p", {}, t("table.confidential")),
    el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, down.name), names.map((name) => el("th", { scope: "col" }, name)))), body),
    cut ? el("p", {}, t("table.cut")) : null);
}
