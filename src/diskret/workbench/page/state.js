// What the page knows: the draft of the job as the server keeps it, and who wants to hear of it.
import { get, inTurn, Refused } from "./api.js";
import { byId } from "./dom.js";
import { t } from "./words.js";

export const known = { draft: {}, can: {}, saved: true, folder: "", table: 0, step: "file", language: "en" };
const heard = [];

export const listen = (call) => heard.push(call);

export function learnt(state) {
  Object.assign(known, state);
  for (const call of heard) call();
}

export const table = () => (known.draft.tables || [])[known.table];

export async function refresh() {
  learnt(await get("state"));
}

// Change the draft by a function and keep it; steps of one name are undone together.
export const change = (by, step = "") => inTurn(async (ask) => {
  const draft = structuredClone(known.draft);
  by(draft);
  learnt(await ask("PUT", "draft", { draft, step }));
});

export const undo = () => inTurn(async (ask) => learnt(await ask("POST", "undo", {})));
export const redo = () => inTurn(async (ask) => learnt(await ask("POST", "redo", {})));

let fading;
export function say(text) {
  byId("said").textContent = text;
  clearTimeout(fading);
  fading = setTimeout(() => { byId("said").textContent = ""; }, 6000);
}

// Run what may be refused; what the server says of it goes into an element or is said.
export async function tried(call, place) {
  if (place) place.textContent = "";
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const text = error.message === "401" ? t("no_token") : error.message || t("no_server");
    if (place) place.textContent = text;
    else say(text);
    return undefined;
  }
}
