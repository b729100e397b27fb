// Records that leave themselves: what somebody may know of a person, and what must not be learnt.
import { get } from "./api.js";
import { add, el, select } from "./dom.js";
import { change, known, tried } from "./state.js";
import { scaled, t } from "./words.js";

const MANY = ["keys", "numeric", "sensitive", "strata", "identifiers"];
const ONE = ["weight", "household", "id"];
const NAMED = { weight: /weight|gewicht/i, household: /household|haushalt/i, id: /person|^id$|_id$|nummer/i };

// A draft that releases records, from the file alone.
export function proposedRecords(draft, columns) {
  const roles = { keys: [] };
  for (const [role, pattern] of Object.entries(NAMED)) {
    const found = columns.find((one) => pattern.test(one.name));
    if (found) roles[role] = found.name;
  }
  const used = new Set(Object.values(roles).flat());
  for (const one of columns) if (!used.has(one.name) && one.codes > 1 && one.codes <= 120 && roles.keys.length < 5) roles.keys.push(one.name);
  const records = draft.records;
  for (const key of Object.keys(draft)) delete draft[key];
  Object.assign(draft, { records, roles, steps: [{ do: "local_suppression", k: 3 }],
    release: { folder: "out", formats: ["csv"], language: known.language, claims: { k_anonymity: { k: 3 } } } });
}

function role(roles, name) {
  return MANY.find((one) => (roles[one] || []).includes(name)) || ONE.find((one) => roles[one] === name) || "";
}

function set(roles, name, wanted) {
  for (const one of MANY) {
    roles[one] = (roles[one] || []).filter((other) => other !== name);
    if (!roles[one].length) delete roles[one];
  }
  for (const one of ONE) if (roles[one] === name) delete roles[one];
  if (MANY.includes(wanted)) roles[wanted] = [...(roles[wanted] || []), name];
  else if (wanted) roles[wanted] = name;
}

export async function show(main, go) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const rows = el("tbody");
  add(main, el("h2", {}, t("columns.heading")), el("p", { class: "lead" }, t("roles.lead")), wrong,
    el("div", { class: "card wide" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ["column", "examples", "codes", "missing", "use"].map((one) =>
      el("th", { scope: "col", class: ["codes", "missing"].includes(one) ? "number" : "" }, t(`columns.${one}`))))), rows)));
  const told = await tried(() => get("columns"), wrong);
  if (!told) return;
  for (const one of told.columns) {
    const options = ["", ...MANY, ...ONE].map((name) => [name, t(`roles.${name || "none"}`)]);
    const use = select(options, role(known.draft.roles, one.name), (wanted) => tried(() => change((draft) => set(draft.roles, one.name, wanted)), wrong),
      { "aria-label": t("columns.use_of", { name: one.name }) });
    add(rows, el("tr", {}, el("th", { scope: "row" }, one.name), el("td", { class: "muted" }, one.examples.join(" · ")),
      el("td", { class: "number" }, scaled(one.codes)), el("td", { class: "number" }, scaled(one.missing)), el("td", {}, use)));
  }
  add(main, el("button", { class: "main", onclick: () => go("risk") }, t("next.risk")));
}
