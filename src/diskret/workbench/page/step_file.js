// The first step: choose records or a job file below the folder of the workbench.
import { get, post } from "./api.js";
import { add, el, field, fill, select } from "./dom.js";
import { proposed } from "./step_columns.js";
import { proposedRecords } from "./step_roles.js";
import { change, known, learnt, tried } from "./state.js";
import { scaled, t } from "./words.js";

let below = "";
let what = "table";
const options = {};

export async function show(main, go) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const files = el("ul", { class: "files" });
  add(main,
    el("h2", {}, t("file.heading")),
    el("p", { class: "lead" }, t("file.lead", { folder: known.folder })),
    known.recovered && known.draft.records ? el("p", { class: "card" }, t("file.recovered"), " ",
      el("button", { class: "link", onclick: () => go("columns") }, t("file.go_on"))) : null,
    el("section", { class: "card" }, field(t("file.what"), select([["table", t("file.what_table")], ["records", t("file.what_records")]], what, (value) => { what = value; }))),
    el("section", { class: "card", "aria-label": t("file.list") }, files),
    reading(), wrong);
  await list();

  async function list() {
    const found = await tried(() => get(`files?below=${encodeURIComponent(below)}`), wrong);
    fill(files);
    if (below) {
      const above = below.includes("/") ? below.slice(0, below.lastIndexOf("/")) : "";
      add(files, el("li", {}, el("button", { class: "link", onclick: () => { below = above; list(); } }, "↑ ..")));
    }
    for (const one of (found || []).filter((file) => !["hrc", "hst"].includes(file.kind))) {
      const open = one.kind === "folder" ? () => { below = one.path; list(); } : () => opened(one);
      add(files, el("li", {}, el("button", { class: "link", onclick: open }, one.kind === "folder" ? `${one.name}/` : one.name),
        one.size === undefined ? null : el("span", { class: "muted" }, ` ${scaled(Math.ceil(one.size / 1024))} KB`)));
    }
    if (!files.children.length) add(files, el("li", { class: "muted" }, t("file.none")));
  }

  async function opened(one) {
    files.setAttribute("aria-busy", "true");
    await tried(async () => {
      known.desk = one.kind === "db" ? one.path : null;
      if (known.desk) { await go("desk"); return; }
      learnt(await post("open", { path: one.path, options }));
      if (one.kind !== "toml" && !(known.draft.tables || known.draft.roles)) {
        const columns = await get("columns");
        await change((draft) => (what === "records" ? proposedRecords : proposed)(draft, columns.columns));
      }
      known.table = 0;
      go("columns");
    }, wrong);
    files.removeAttribute("aria-busy");
  }
}

// How text is to be read, where it is not as usual.
function reading() {
  const chosen = (key) => (value) => { if (value) options[key] = value; else delete options[key]; };
  const usual = ["", t("file.usual")];
  return el("details", { class: "card" }, el("summary", {}, t("file.reading")),
    el("div", { class: "row" },
      field(t("file.decimal"), select([usual, [",", "1,5"], [".", "1.5"]], options.decimal || "", chosen("decimal"))),
      field(t("file.thousands"), select([usual, [".", "1.000"], [",", "1,000"], [" ", "1 000"]], options.thousands || "", chosen("thousands"))),
      field(t("file.encoding"), select([usual, ["cp1252", "Windows (cp1252)"], ["latin-1", "Latin-1"], ["utf-16", "UTF-16"]], options.encoding || "", chosen("encoding"))),
      field(t("file.delimiter"), select([usual, [";", ";"], [",", ","], ["\t", "Tab"], ["|", "|"]], options.delimiter || "", chosen("delimiter")))));
}

