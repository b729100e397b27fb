// An answer: a table with the last variable across, and bars of the same figures.
import { el, number, t } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const BARS = 60;

export function shown(found, data) {
  const axes = found.by.map((one) => ({ ...one, told: data.variables.find((other) => other.name === one.variable) }));
  const across = axes.at(-1);
  const down = axes.slice(0, -1);
  const wide = across ? across.codes.length : 1;
  const high = found.value.length / wide;
  const text = (axis, code) => {
    const label = [axis.told.codes, ...axis.told.levels].map((codes) => codes[code]).find(Boolean);
    return label && label !== code ? `${code} ${label}` : code;
  };
  const places = (row) => {
    let rest = row;
    const names = [];
    for (const axis of [...down].reverse()) {
      names.unshift(text(axis, axis.codes[rest % axis.codes.length]));
      rest = Math.floor(rest / axis.codes.length);
    }
    return names;
  };
  const cell = (at) => (found.status?.[at] === "suppressed" ? el("td", { class: "number hidden", title: t("hidden") }, "✕") : el("td", { class: "number" }, number(found.value[at])));
  const rows = Array.from({ length: Math.round(high) }, (_, row) => el("tr", {}, places(row).map((name) => el("th", { scope: "row" }, name)),
    Array.from({ length: wide }, (_unused, i) => cell(row * wide + i))));
  const heads = el("tr", {}, down.map((axis) => el("th", { scope: "col" }, axis.told.label || axis.variable)),
    across ? across.codes.map((code) => el("th", { scope: "col", class: "number" }, text(across, code))) : el("th", { scope: "col", class: "number" }, t("number")));
  const names = found.value.map((_, at) => [...places(Math.floor(at / wide)), ...(across ? [text(across, across.codes[at % wide])] : [t("number")])].join(" · "));
  return el("section", { class: "card" }, el("h3", {}, axes.map((axis) => axis.told.label || axis.variable).join(" × ") || t("total")),
    el("p", { class: "muted" }, found.note), el("div", { class: "wide" }, el("table", { class: "plain", id: "cells" }, el("thead", {}, heads), el("tbody", {}, rows))),
    found.value.length <= BARS ? bars(names, found.value) : el("p", { class: "muted" }, t("too_many", { most: BARS })));
}

function draw(tag, given, ...inside) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

function bars(names, values) {
  const most = Math.max(0, ...values.map((one) => one ?? 0));
  const least = Math.min(0, ...values.map((one) => one ?? 0));
  const margin = Math.min(320, 12 + 7.2 * Math.max(...names.map((one) => one.length)));
  const wide = 760;
  const scale = (wide - margin - 90) / (most - least || 1);
  const zero = margin - least * scale;
  const picture = draw("svg", { viewBox: `0 0 ${wide} ${values.length * 24 + 8}`, role: "img", "aria-label": t("picture"), class: "chart" });
  values.forEach((value, i) => {
    const y = i * 24 + 4;
    const long = Math.abs(value ?? 0) * scale;
    const start = value < 0 ? zero - long : zero;
    picture.append(draw("text", { x: margin - 8, y: y + 15, "text-anchor": "end" }, names[i].length > 44 ? `${names[i].slice(0, 43)}…` : names[i]),
      draw("rect", { class: "bar", x: start, y, width: long, height: 18 }),
      draw("text", { class: "figure", x: start + long + 6, y: y + 15 }, number(value)));
  });
  return picture;
}
