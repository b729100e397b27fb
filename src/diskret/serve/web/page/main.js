// The query page: a token, a data set, a table of its variables, and a picture of the answer.
import { el, field, fill, language, learn, select, t, told } from "./dom.js";
import { shown } from "./answer.js";
import { builder } from "./builder.js";
import { ask, keep, Unanswered, use } from "./service.js";

const byId = (id) => document.getElementById(id);
let data = null;
let me = null;
let chosen = 0;

async function frame() {
  byId("title").textContent = told.title;
  document.title = told.title;
  byId("who").textContent = me ? t("who", { name: me.name }) : "";
  fill(byId("tools"), me ? el("button", { id: "leave", onclick: leave }, t("leave")) : null,
    el("button", { id: "language", lang: language === "de" ? "en" : "de", onclick: other }, language === "de" ? "English" : "Deutsch"));
  if (me) table();
  else login();
}

async function other() {
  await learn(language === "de" ? "en" : "de");
  await frame();
  byId("language").focus();
}

function leave() {
  use("");
  me = data = null;
  frame();
}

function login() {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const input = el("input", { type: "password", autocomplete: "off", size: 40, required: true });
  const enter = async (event) => {
    event.preventDefault();
    use(input.value.trim());
    await tried(async () => {
      const found = await (await ask("/v1/me")).json();
      data = await (await ask("/v1/data")).json();
      me = found;
      chosen = 0;
      await frame();
    }, wrong);
  };
  fill(byId("main"), el("h2", {}, t("login")), el("p", { class: "lead" }, t("login_help")),
    el("form", { class: "card row", onsubmit: enter }, field(t("token"), input), el("button", { class: "main" }, t("enter"))), wrong);
  input.focus();
}

function table() {
  const wrong = el("p", { class: "wrong", role: "alert" });
  const answer = el("div", { id: "answer" });
  const of = data[chosen];
  if (!of) { fill(byId("main"), el("p", {}, t("no_data"))); return; }
  const left = el("span", { id: "left" }, t("left", { left: of.left }));
  const build = builder(of);
  const names = data.map((one, i) => [String(i), one.label || one.name]);
  const asked = (event) => {
    event.preventDefault();
    answer.setAttribute("aria-busy", "true");
    fill(answer);
    tried(async () => {
      const question = build.question();
      const found = await (await ask("/v1/tables", question)).json();
      fill(answer, shown(found, of), el("div", { class: "row" }, told.forms.map((form) => el("button", { onclick: () => tried(() => keep(`/v1/tables?form=${form}`, question), wrong) }, `↓ ${form}`))));
      const now = await (await ask(`/v1/data/${encodeURIComponent(of.name)}`)).json();
      of.left = now.left;
      left.textContent = t("left", { left: of.left });
    }, wrong).finally(() => answer.removeAttribute("aria-busy"));
  };
  fill(byId("main"), el("h2", {}, t("heading")), el("p", { class: "lead" }, t(`lead_${of.method}`), " ", left),
    el("form", { onsubmit: asked }, data.length > 1 ? el("section", { class: "card row" }, field(t("data"), select(names, String(chosen), (value) => { chosen = Number(value); table(); }))) : null,
      build.form, el("button", { class: "main", id: "ask" }, t("ask"))), wrong, answer);
}

async function tried(call, place) {
  place.textContent = "";
  try {
    await call();
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    place.textContent = error.message || t("no_answer");
    if (error.status === 401 && me) leave();
  }
}

await learn((navigator.language || "en").startsWith("de") ? "de" : "en");
await frame();
