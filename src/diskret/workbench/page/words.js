// Texts of the catalogue, and numbers as the language writes them.
import { get } from "./api.js";

let words = {};
export let language = "en";

export async function learn(wanted) {
  const told = await get(`words/${wanted}`);
  words = told.words;
  language = told.language;
  document.documentElement.lang = language;
}

export function t(key, blanks = {}) {
  const text = words[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in blanks ? blanks[name] : whole));
}

// A text if the catalogue has one.
export const worded = (key) => words[key];

const MARK = { en: ",", de: "\u00a0" };
const POINT = { en: ".", de: "," };

// A whole number, scaled by 10^-decimals; a text where it is too large for a number.
export function scaled(value, decimals = 0) {
  if (value === null) return "–";
  let digits = String(value);
  const minus = digits.startsWith("-");
  if (minus) digits = digits.slice(1);
  digits = digits.padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, MARK[language]);
  const after = decimals ? POINT[language] + digits.slice(-decimals) : "";
  return (minus ? "−" : "") + whole + after;
}

export function number(value, decimals) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return scaled(value);
  const fixed = decimals ?? (Math.abs(value) >= 100 ? 0 : 2);
  const text = Math.abs(value).toFixed(fixed);
  const [whole, after] = text.split(".");
  return (value < 0 ? "−" : "") + scaled(whole) + (after ? POINT[language] + after : "");
}

export const percent = (share, decimals = 1) => `${number(100 * share, decimals)}\u00a0%`;
