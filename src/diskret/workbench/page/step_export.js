// What is taken away: the released folder, and the job file that makes it again.
import { get, keep, post } from "./api.js";
import { add, el, field } from "./dom.js";
import { known, learnt, tried } from "./state.js";
import { t } from "./words.js";

export async function show(main) {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const name = el("input", { type: "text", value: "job.toml" });
  const saved = el("p", { id: "saved" });
  const text = el("pre", { tabIndex: 0, "aria-label": t("export.job") });
  const run = await tried(() => get("run"), wrong);
  add(main, el("h2", {}, t("export.heading")), el("p", { class: "lead" }, t("export.lead")),
    el("section", { class: "card" }, el("h3", {}, t("export.release")),
      run?.state === "done" ? [el("p", {}, t("protect.folder", { folder: run.folder })),
        el("p", {}, el("strong", {}, t("protect.public"))), el("ul", { class: "files", id: "public" }, run.files.public.map((file) => el("li", {},
          el("button", { "aria-label": t("export.download", { name: file }), onclick: () => tried(() => keep(`public/${encodeURIComponent(file)}`, file), wrong) }, "↓ ", file))))] : el("p", { class: "muted" }, t("export.none"))),
    el("section", { class: "card" }, el("h3", {}, t("export.job")), el("p", { class: "help" }, t("export.help")),
      el("div", { class: "row" }, field(t("export.name"), name), el("button", { class: "main", onclick: save }, t("export.save"))), saved, wrong, text));
  text.textContent = (await tried(() => get("job"), wrong)) || "";

  async function save() {
    const told = await tried(() => post("save", { name: name.value.trim() }), wrong);
    if (!told) return;
    saved.textContent = t("export.saved", { command: known.draft.roles ? "anonymize" : "protect", path: told.path, name: name.value.trim() });
    learnt(told);
  }
}
