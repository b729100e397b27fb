// Pictures as plain SVG: points by two figures, and bars. All they show stands in a table, too.
import { number } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDE = 720;
const HIGH = 420;
const EDGE = { left: 74, right: 24, top: 18, bottom: 56 };

function draw(tag, given = {}, ...inside) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

// Round numbers from 0 to a little above the largest.
function marks(most) {
  const rough = (most || 1) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const width = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let at = 0; at < most + width * 0.999 || found.length < 2; at += width) found.push(Number(at.toPrecision(12)));
  return found;
}

// No other point is as good in both figures and better in one; the smaller, the better.
export function best(points) {
  return points.map((one) => !points.some((other) => other.x <= one.x && other.y <= one.y && (other.x < one.x || other.y < one.y)));
}

// points: [{ name, x, y }]; said: name of the picture and of both figures.
export function scatter(points, said) {
  const across = marks(Math.max(...points.map((one) => one.x)));
  const up = marks(Math.max(...points.map((one) => one.y)));
  const x = (value) => EDGE.left + ((WIDE - EDGE.left - EDGE.right) * value) / across.at(-1);
  const y = (value) => HIGH - EDGE.bottom - ((HIGH - EDGE.top - EDGE.bottom) * value) / up.at(-1);
  const picture = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": said.name, class: "chart" });
  for (const one of across) {
    picture.append(draw("line", { class: "rule", x1: x(one), x2: x(one), y1: y(0), y2: EDGE.top }),
      draw("text", { x: x(one), y: y(0) + 18, "text-anchor": "middle" }, number(one, decimals(across))));
  }
  for (const one of up) {
    picture.append(draw("line", { class: "rule", x1: x(0), x2: WIDE - EDGE.right, y1: y(one), y2: y(one) }),
      draw("text", { x: x(0) - 8, y: y(one) + 4, "text-anchor": "end" }, number(one, decimals(up))));
  }
  picture.append(draw("text", { class: "axis", x: (EDGE.left + WIDE - EDGE.right) / 2, y: HIGH - 12, "text-anchor": "middle" }, said.x),
    draw("text", { class: "axis", transform: `translate(16 ${(EDGE.top + HIGH - EDGE.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, said.y));
  const front = best(points);
  points.forEach((one, i) => picture.append(draw("circle", { class: front[i] ? "front" : "behind", cx: x(one.x), cy: y(one.y), r: 6 })));
  const taken = [];
  for (const group of together(points, x, y)) {
    const [first] = group;
    const text = group.map((one) => one.name).join("; ");
    const left = x(first.x) > WIDE * 0.6;
    const label = { x: x(first.x) + (left ? -11 : 11), y: y(first.y) - 9, wide: 7.4 * text.length };
    const from = left ? label.x - label.wide : label.x;
    while (taken.some((one) => Math.abs(one.y - label.y) < 15 && from < one.to && one.from < from + label.wide)) label.y -= 15;
    taken.push({ y: label.y, from, to: from + label.wide });
    picture.append(draw("text", { class: "name", x: label.x, y: Math.max(label.y, 12), "text-anchor": left ? "end" : "start" }, text));
  }
  return picture;
}

// Points that cannot be told apart have one name.
function together(points, x, y) {
  const groups = [];
  for (const one of points) {
    const near = groups.find(([first]) => Math.abs(x(first.x) - x(one.x)) < 14 && Math.abs(y(first.y) - y(one.y)) < 14);
    if (near) near.push(one);
    else groups.push([one]);
  }
  return groups;
}

const decimals = (all) => {
  const least = all[1] - all[0];
  return least >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(least)));
};
