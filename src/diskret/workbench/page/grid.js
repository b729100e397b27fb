// A table of any size: only the rows and columns that are seen are in the page.
import { el } from "./dom.js";
import { scaled, t } from "./words.js";

const HEIGHT = 30;
const BEYOND = 8;

export class Grid {
  // told: the table; opened: called with the place of the cell that is asked for.
  constructor(told, opened) {
    this.told = told;
    this.opened = opened;
    this.shape = told.dimensions.map((one) => one.codes.length);
    this.rows = 0;
    this.columns = told.dimensions.length > 1 ? told.dimensions.length - 1 : null;
    this.fixed = this.shape.map(() => 0);
    this.here = [0, 0];
    this.marks = { hidden: new Set(), shown: new Set() };
    this.strides = this.shape.map((_, i) => this.shape.slice(i + 1).reduce((a, b) => a * b, 1));
    this.width = widest(told);
    this.side = 0;
    this.space = el("div", { class: "space", role: "presentation" });
    this.head = el("div", { class: "head", role: "row", "aria-rowindex": 1 });
    this.view = el("div", { class: "grid", role: "grid", tabIndex: 0, "aria-label": told.name }, this.space);
    this.space.append(this.head);
    this.view.addEventListener("scroll", () => this.draw());
    this.view.addEventListener("keydown", (event) => this.key(event));
    this.view.addEventListener("click", (event) => this.click(event));
    this.seen = new Map();
    new ResizeObserver(() => this.draw()).observe(this.view);
    this.lay();
  }

  get high() { return this.shape[this.rows]; }

  get wide() { return this.columns === null ? 1 : this.shape[this.columns]; }

  place(row, column) {
    const at = [...this.fixed];
    at[this.rows] = row;
    if (this.columns !== null) at[this.columns] = column;
    return at.reduce((sum, one, i) => sum + one * this.strides[i], 0);
  }

  // Show a cell of any place: fix the other dimensions there.
  find(place) {
    const at = this.strides.map((stride, i) => Math.floor(place / stride) % this.shape[i]);
    this.fixed = at;
    this.lay();
    this.go(at[this.rows], this.columns === null ? 0 : at[this.columns]);
  }

  lay() {
    this.side = margin(this.told.dimensions[this.rows]);
    this.space.style.width = `${this.side + this.wide * this.width}px`;
    this.space.style.height = `${(this.high + 1) * HEIGHT}px`;
    this.view.setAttribute("aria-rowcount", this.high + 1);
    this.view.setAttribute("aria-colcount", this.wide + 1);
    this.here = [Math.min(this.here[0], this.high - 1), Math.min(this.here[1], this.wide - 1)];
    this.again();
  }

  again() {
    for (const line of this.seen.values()) line.remove();
    this.seen.clear();
    this.window = "";
    this.draw();
  }

  draw() {
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.view;
    const top = Math.max(0, Math.floor(scrollTop / HEIGHT) - BEYOND);
    const bottom = Math.min(this.high, Math.ceil((scrollTop + clientHeight) / HEIGHT) + BEYOND);
    const left = Math.max(0, Math.floor(scrollLeft / this.width) - 1);
    const right = Math.min(this.wide, Math.ceil((scrollLeft + clientWidth - this.side) / this.width) + 1);
    const window = `${left}-${right}`;
    if (window !== this.window) {
      for (const line of this.seen.values()) line.remove();
      this.seen.clear();
      this.window = window;
      this.names(left, right);
    }
    for (const [row, line] of this.seen) {
      if (row < top || row >= bottom) {
        line.remove();
        this.seen.delete(row);
      }
    }
    const fresh = document.createDocumentFragment();
    for (let row = top; row < bottom; row += 1) {
      if (this.seen.has(row)) continue;
      const line = this.line(row, left, right);
      this.seen.set(row, line);
      fresh.append(line);
    }
    this.space.append(fresh);
    this.point();
  }

  names(left, right) {
    const across = this.columns === null ? null : this.told.dimensions[this.columns];
    const corner = this.told.dimensions[this.rows].name + (across ? ` / ${across.name}` : "");
    this.head.style.width = `${this.side + this.wide * this.width}px`;
    this.head.replaceChildren(el("div", { class: "side", role: "columnheader", "aria-colindex": 1, title: corner }, corner));
    this.head.firstChild.style.width = `${this.side}px`;
    for (let column = left; column < right; column += 1) {
      const name = across ? label(across, column) : this.told.measure;
      const cell = el("div", { class: "name", role: "columnheader", "aria-colindex": column + 2, title: name }, name);
      cell.style.left = `${this.side + column * this.width}px`;
      cell.style.width = `${this.width}px`;
      this.head.append(cell);
    }
  }

  line(row, left, right) {
    const down = this.told.dimensions[this.rows];
    const line = el("div", { class: "line", role: "row", "aria-rowindex": row + 2 });
    line.style.top = `${(row + 1) * HEIGHT}px`;
    line.style.width = `${this.side + this.wide * this.width}px`;
    const name = label(down, row);
    const side = el("div", { class: "side", role: "rowheader", "aria-colindex": 1, title: name }, "  ".repeat(down.levels[row]) + name);
    side.style.width = `${this.side}px`;
    line.append(side);
    for (let column = left; column < right; column += 1) line.append(this.cell(row, column));
    return line;
  }

  cell(row, column) {
    const at = this.place(row, column);
    const state = this.told.states[at];
    const value = scaled(this.told.value[at], this.told.decimals);
    const made = document.createElement("div");
    made.className = `cell ${state === "." ? "" : state}${this.marks.hidden.has(at) ? " new" : ""}${this.marks.shown.has(at) ? " gone" : ""}`;
    made.id = `c${row}-${column}`;
    made.dataset.at = at;
    made.setAttribute("role", "gridcell");
    made.setAttribute("aria-colindex", column + 2);
    made.style.left = `${this.side + column * this.width}px`;
    made.style.width = `${this.width}px`;
    const change = this.marks.hidden.has(at) ? "new" : this.marks.shown.has(at) ? "gone" : "";
    const said = [state === "." ? "" : t(`state.${state}`), change ? t(`cell.${change}`) : ""].filter(Boolean);
    if (said.length) made.setAttribute("aria-label", [value, ...said].join(", "));
    if (state === "E") made.textContent = "–";
    else {
      const mark = `${state === "." ? "" : t(`letter.${state}`)}${change ? t(`letter.${change}`) : ""}`;
      if (mark) made.append(el("b", {}, mark));
      made.append(value);
    }
    return made;
  }

  point() {
    for (const old of this.space.querySelectorAll(".here")) old.classList.remove("here");
    const cell = document.getElementById(`c${this.here[0]}-${this.here[1]}`);
    if (!cell) { this.view.removeAttribute("aria-activedescendant"); return; }
    cell.classList.add("here");
    this.view.setAttribute("aria-activedescendant", cell.id);
  }

  go(row, column) {
    row = Math.max(0, Math.min(this.high - 1, row));
    column = Math.max(0, Math.min(this.wide - 1, column));
    this.here = [row, column];
    const { view } = this;
    const y = (row + 1) * HEIGHT;
    const x = this.side + column * this.width;
    if (y < view.scrollTop + HEIGHT) view.scrollTop = y - HEIGHT;
    else if (y + HEIGHT > view.scrollTop + view.clientHeight) view.scrollTop = y + HEIGHT - view.clientHeight;
    if (x < view.scrollLeft + this.side) view.scrollLeft = x - this.side;
    else if (x + this.width > view.scrollLeft + view.clientWidth) view.scrollLeft = x + this.width - view.clientWidth;
    this.draw();
  }

  key(event) {
    const [row, column] = this.here;
    const page = Math.max(1, Math.floor(this.view.clientHeight / HEIGHT) - 2);
    const far = event.ctrlKey;
    const moves = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageUp: [row - page, column], PageDown: [row + page, column],
      Home: [far ? 0 : row, 0], End: [far ? this.high - 1 : row, this.wide - 1],
    };
    if (event.key in moves) this.go(...moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.opened(this.place(row, column));
    else return;
    event.preventDefault();
  }

  click(event) {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    const [row, column] = cell.id.slice(1).split("-").map(Number);
    this.go(row, column);
    this.opened(Number(cell.dataset.at));
  }
}

// Pixels of the names of the rows: as wide as they are, within limits.
function margin(dimension) {
  let most = dimension.name.length + 10;
  for (let at = 0; at < dimension.codes.length; at += 1) most = Math.max(most, label(dimension, at).length + 2 * dimension.levels[at]);
  return Math.min(300, Math.ceil(8.2 * most + 24));
}

// Pixels of a column: a number is never cut.
function widest(told) {
  let most = 0;
  for (const one of told.value) most = Math.max(most, String(one).length);
  const marks = Math.floor(Math.max(0, most - told.decimals - 1) / 3) + (told.decimals ? 1 : 0);
  return Math.max(84, Math.ceil(8.6 * (most + 0.6 * marks) + 52));
}

export function label(dimension, at) {
  const code = dimension.codes[at];
  const text = dimension.labels[at];
  if (!text || text === code) return code;
  return `${text} `.startsWith(`${code} `) ? text : `${code} ${text}`;
}
