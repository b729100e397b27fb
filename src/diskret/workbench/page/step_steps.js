// What is done to the records, step after step; each has a form of all that a job file can say.
import { el, field, fill, select } from "./dom.js";
import { form, forms } from "./form.js";
import { change, known, tried } from "./state.js";
import { t, worded } from "./words.js";

const verb = (name) => worded(`step_of.${name}`) ?? name;

// changed() is called when the steps are other ones.
export async function steps(place, columns, changed, wrong) {
  const told = await forms();
  if (!told) return;
  draw();

  async function put(by, step = "") {
    await tried(async () => {
      await change((draft) => { draft.steps ||= []; by(draft.steps); if (!draft.steps.length) delete draft.steps; }, step);
      await changed();
    }, wrong);
  }

  function draw() {
    const all = known.draft.steps || [];
    const moved = (by) => async () => { await put(by); draw(); };
    const more = select([["", t("steps_of.choose")], ...Object.keys(told.steps).map((name) => [name, verb(name)])], "", (name) => name && moved((list) => list.push({ do: name }))(), { id: "add-step" });
    fill(place, el("h3", {}, t("steps_of.heading")), el("p", { class: "help" }, t("steps_of.help")),
      all.map((one, i) => el("fieldset", {}, el("legend", {}, `${i + 1}. ${verb(one.do)}`),
        form(told.steps[one.do] || [], Object.fromEntries(Object.entries(one).filter(([key]) => key !== "do")), { of: `step_of.${one.do}`, columns,
          changed: (values) => put((list) => { list[i] = { do: one.do, ...values }; }, `step ${i}`) }),
        el("p", {}, el("button", { disabled: !i, onclick: moved((list) => list.splice(i - 1, 0, ...list.splice(i, 1))), "aria-label": t("steps_of.up", { step: verb(one.do) }) }, "↑"), " ",
          el("button", { onclick: moved((list) => list.splice(i, 1)), "aria-label": t("steps_of.remove", { step: verb(one.do) }) }, "×")))),
      el("div", { class: "row" }, field(t("steps_of.add"), more)));
  }
}
