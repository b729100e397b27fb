// Changing values in place of hiding cells: the form of what stands below [tables.noise].
import { get } from "./api.js";
import { fill } from "./dom.js";
import { form, forms } from "./form.js";
import { change, known, table, tried } from "./state.js";

// What a method begins with.
const USUAL = { controlled: { base: 3 }, deterministic: { base: 3 }, random: { base: 3 }, small_counts: { base: 3 }, adjustment: {},
  invariant: { largest: 20 }, cell_key: { max_noise: 5, variance: 3 } };
// What a table with changed values cannot say.
const OF_SUPPRESSION = ["method", "cost", "time_limit", "budget", "frozen", "previous", "rounding"];

export const KINDS = Object.keys(USUAL);
export const offered = () => KINDS.filter((one) => !(one === "invariant" && table()?.value) && !(one === "adjustment" && !table()?.rules));

// The draft with a way to protect its table: a method of suppression, or noise.
export function set(draft, wanted) {
  const of = draft.tables[known.table];
  if (!KINDS.includes(wanted)) {
    delete of.noise;
    for (const one of draft.tables) if (!one.noise) { if (wanted === "auto") delete one.method; else one.method = wanted; }
    return;
  }
  for (const key of OF_SUPPRESSION) delete of[key];
  of.noise = { method: wanted, ...USUAL[wanted] };
  if (["cell_key", "invariant"].includes(wanted) && of.unit) of.noise.key_of = of.unit;
  if (wanted === "cell_key" && of.value) of.noise.magnitude = {};
}

export async function fields(place, wrong) {
  const of = table();
  const takes = of?.noise && (await forms())?.noise[of.value ? "sums" : "counts"][of.noise.method];
  if (!takes) { fill(place); return; }
  const columns = ((await tried(() => get("columns"), wrong))?.columns || []).map((one) => one.name);
  const files = ((await tried(() => get("files"), wrong)) || []).filter((one) => one.kind === "csv").map((one) => one.path);
  const { method, ...given } = of.noise;
  fill(place, form(takes, given, { of: `noise.${method}`, columns, files, all: takes.length < 8, changed: (values) => tried(() => change((draft) => {
    const mine = draft.tables[known.table];
    mine.noise = { method, ...values };
    if (method === "cell_key" && mine.value) mine.noise.magnitude ||= {};
    if (values.weighted_count) delete mine.noise.magnitude;
  }, `noise ${known.table}`), wrong) }));
  place.hidden = !takes.length;
}
