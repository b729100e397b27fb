// How codes add up: flat, by the beginning of the code, out of a file, or moved by hand.
import { get, post } from "./api.js";
import { add, el, field, fill, select } from "./dom.js";
import { text } from "./form.js";
import { change, known, learnt, table, tried } from "./state.js";
import { scaled, t } from "./words.js";

export async function show(main, go) {
  add(main, el("h2", {}, t("trees.heading")), el("p", { class: "lead" }, t("trees.lead")));
  const columns = Object.keys(table()?.by || {});
  for (const column of columns) {
    const place = el("section", { class: "card", "aria-label": column });
    add(main, place);
    await tree(place, column);
  }
  add(main, recoded(columns), el("button", { class: "main", onclick: () => go("rules") }, t("next.rules")));
}

// Codes of this table that are combined to a new one, whatever the tree says: column → new code → codes.
function recoded(columns) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const rows = Object.entries(table()?.recode || {}).flatMap(([column, codes]) => Object.entries(codes).map(([code, of]) => ({ column, code, of })));
  const body = el("div");
  const kept = () => tried(() => change((draft) => {
    const made = {};
    for (const { column, code, of } of rows) if (code && of.length) (made[column] ||= {})[code] = of;
    const mine = draft.tables[known.table];
    if (Object.keys(made).length) mine.recode = made;
    else delete mine.recode;
  }, `recode ${known.table}`), wrong);
  const draw = () => fill(body, rows.map((row, i) => el("div", { class: "row" },
    field(t("varying.column"), select(columns.map((one) => [one, one]), row.column, (value) => { row.column = value; kept(); })),
    field(t("recode.code"), el("input", { type: "text", size: 10, value: row.code, onchange: (event) => { row.code = event.target.value.trim(); kept(); } })),
    field(t("recode.of"), text(row.of, (codes) => { row.of = codes; kept(); })),
    el("button", { "aria-label": t("varying.remove", { code: row.code }), onclick: () => { rows.splice(i, 1); draw(); kept(); } }, "×"))),
  el("p", {}, el("button", { onclick: () => { rows.push({ column: columns[0], code: "", of: [] }); draw(); } }, t("recode.add"))));
  draw();
  return el("section", { class: "card", id: "recode" }, el("h3", {}, t("recode.heading")), el("p", { class: "help" }, t("recode.help")), body, wrong);
}

async function tree(place, column) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const rows = await tried(() => get(`tree?column=${encodeURIComponent(column)}`), wrong);
  const made = async (asked) => {
    const told = await tried(() => post("tree", { column, ...asked }), wrong);
    if (!told) return;
    learnt(told);
    tree(place, column);
  };
  const widths = el("input", { type: "text", size: 8, placeholder: "1, 1, 2" });
  const files = ((await tried(() => get("files"), wrong)) || []).filter((one) => ["hrc", "csv"].includes(one.kind));
  const named = known.draft.hierarchies?.[column]?.file || "";
  fill(place,
    el("h3", {}, column, el("span", { class: "muted" }, ` – ${t("trees.codes", { codes: scaled((rows || []).length) })}${named ? `, ${named}` : ""}`)),
    el("div", { class: "row" },
      el("button", { onclick: () => made({ kind: "flat" }) }, t("trees.flat")),
      field(t("trees.widths"), widths),
      el("button", { onclick: () => made({ kind: "prefix", widths: widths.value.split(/[ ,;]+/).filter(Boolean).map(Number) }) }, t("trees.by_prefix")),
      field(t("trees.file"), select([["", "–"], ...files.map((one) => [one.path, one.name])], named, (file) => file && made({ kind: "file", file })))),
    wrong, rows ? editor(column, rows, made) : "");
}

function depths(rows) {
  const depth = { [rows[0].code]: 0 };
  for (const row of rows.slice(1)) depth[row.code] = (depth[row.parent] ?? 0) + 1;
  return depth;
}

// A list of codes: drag one onto another, or mark some and say what to do with them.
function editor(column, rows, made) {
  const list = el("ul", { class: "tree", "aria-label": t("trees.list", { name: column }) });
  const depth = depths(rows);
  const marked = new Set();
  const moved = (codes, parent) => {
    const above = new Map(rows.map((row) => [row.code, row.parent]));
    for (let at = parent; at; at = above.get(at)) if (codes.includes(at)) return;
    made({ kind: "rows", rows: ordered(rows.map((row) => (codes.includes(row.code) ? { ...row, parent } : row))) });
  };
  for (const row of rows) {
    const item = el("li", { draggable: row.parent !== "" });
    item.style.paddingLeft = `${0.5 + 1.3 * depth[row.code]}rem`;
    const name = row.label && row.label !== row.code ? `${row.code} ${row.label}` : row.code;
    item.append(row.parent === "" ? el("strong", {}, name) : el("label", { class: "choice" },
      el("input", { type: "checkbox", onchange: (event) => { if (event.target.checked) marked.add(row.code); else marked.delete(row.code); } }), name));
    item.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", row.code));
    item.addEventListener("dragover", (event) => { event.preventDefault(); item.classList.add("over"); });
    item.addEventListener("dragleave", () => item.classList.remove("over"));
    item.addEventListener("drop", (event) => { event.preventDefault(); moved([event.dataTransfer.getData("text/plain")], row.code); });
    list.append(item);
  }
  const target = select(rows.map((row) => [row.code, row.code]), rows[0].code, () => {});
  const fresh = el("input", { type: "text", size: 10 });
  const combined = () => {
    const code = fresh.value.trim();
    const first = rows.find((row) => marked.has(row.code));
    if (!code || !first || rows.some((row) => row.code === code)) return;
    const below = rows.map((row) => (marked.has(row.code) ? { ...row, parent: code } : row));
    made({ kind: "rows", rows: ordered([...below, { code, parent: first.parent, label: "" }]) });
  };
  return el("details", {}, el("summary", {}, t("trees.edit")), list,
    el("p", { class: "help" }, t("trees.help")),
    el("div", { class: "row" },
      field(t("trees.below"), target), el("button", { onclick: () => moved([...marked], target.value) }, t("trees.move")),
      field(t("trees.new"), fresh), el("button", { onclick: combined }, t("trees.combine"))));
}

// Every code behind the one above it; codes that have lost all below them and hold no records go.
function ordered(rows) {
  const below = new Map();
  for (const row of rows) below.set(row.parent, [...(below.get(row.parent) || []), row]);
  const found = [];
  const walk = (row) => { found.push(row); for (const one of below.get(row.code) || []) walk(one); };
  walk(rows.find((row) => row.parent === ""));
  return found;
}
