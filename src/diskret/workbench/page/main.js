// The frame: steps, undo, language; each step draws itself into the middle.
import { put } from "./api.js";
import { byId, el } from "./dom.js";
import { known, learnt, listen, redo, refresh, table, tried, undo } from "./state.js";
import * as attack from "./step_attack.js";
import * as columns from "./step_columns.js";
import * as compare from "./step_compare.js";
import * as desk from "./step_desk.js";
import * as exported from "./step_export.js";
import * as file from "./step_file.js";
import * as ledger from "./step_ledger.js";
import * as protect from "./step_protect.js";
import * as risk from "./step_risk.js";
import * as roles from "./step_roles.js";
import * as rules from "./step_rules.js";
import * as cells from "./step_table.js";
import * as trees from "./step_trees.js";
import * as ways from "./step_ways.js";
import { language, learn, t } from "./words.js";

const OF_TABLES = { file, columns, trees, rules, protect, table: cells, attack, ways, ledger, export: exported };
const OF_RECORDS = { file, columns: roles, risk, protect, compare, ways, export: exported };
const OF_DESK = { file, desk };
const steps = () => (known.desk ? OF_DESK : job());
const job = () => (known.draft.roles ? OF_RECORDS : OF_TABLES);

async function go(step) {
  step = step in steps() ? step : "file";
  known.step = step;
  frame();
  const main = byId("main");
  const fresh = el("div", { "data-step": step });
  main.replaceChildren(fresh);
  document.title = `${t(`step.${step}`)} – diskret`;
  await steps()[step].show(fresh, go);
  fresh.dataset.ready = "";
}

function frame() {
  const ready = { file: true, desk: true, columns: Boolean(known.draft.records) };
  byId("skip").textContent = t("skip");
  known.table = Math.max(0, Math.min(known.table, (known.draft.tables || []).length - 1));
  const many = (known.draft.tables || []).length > 1 && table();
  byId("place").textContent = (known.draft.records?.path || known.folder) + (many ? ` – ${many.name || many.value || "count"}` : "") + (known.saved ? "" : ` – ${t("unsaved")}`);
  byId("steps").setAttribute("aria-label", t("steps"));
  byId("steps").replaceChildren(...Object.keys(steps()).map((step, i) => el("button", {
    "data-go": step, "aria-current": step === known.step ? "step" : null, disabled: !(ready[step] ?? Boolean(table() || known.draft.roles)),
    onclick: async () => { await go(step); byId("main").focus({ preventScroll: true }); } }, `${i + 1} ${t(`step.${step}`)}`)));
  byId("tools").replaceChildren(
    el("button", { id: "undo", disabled: !known.can.undo, onclick: () => stepped(undo) }, t("undo")),
    el("button", { id: "redo", disabled: !known.can.redo, onclick: () => stepped(redo) }, t("redo")),
    el("button", { id: "language", lang: language === "de" ? "en" : "de", onclick: other }, language === "de" ? "English" : "Deutsch"));
}

async function stepped(call) {
  await tried(call);
  await go(known.step === "file" || known.draft.records ? known.step : "file");
}

async function other() {
  const wanted = language === "de" ? "en" : "de";
  await tried(async () => learnt(await put("language", { language: wanted })));
  await learn(wanted);
  await go(known.step);
  byId("language").focus();
}

addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.matches("input, textarea")) return;
  if (event.key === "z" && !event.shiftKey && known.can.undo) { event.preventDefault(); stepped(undo); }
  if ((event.key === "y" || (event.key === "Z" && event.shiftKey)) && known.can.redo) { event.preventDefault(); stepped(redo); }
});

listen(() => { if (byId("steps").children.length) frame(); });
await tried(refresh);
if (known.folder) {
  await learn(known.language);
  await go("file");
} else {
  byId("main").append(el("p", { class: "wrong" }, byId("said").textContent === "no_token" ? "Open the workbench with the address that the command printed. / Öffnen Sie die Werkbank mit der Adresse, die der Befehl ausgegeben hat." : byId("said").textContent));
}
