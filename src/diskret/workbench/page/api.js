// What the server is asked; the token came behind the # of the address and is sent as a header.
const KEPT = "diskret-token";

function taken() {
  const found = /(?:^#|&)token=([\w-]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(KEPT, found[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEPT) || "";
}

const token = taken();

export class Refused extends Error {}

async function ask(method, path, body) {
  const headers = { "X-Diskret-Token": token };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(`/api/${path}`, { method: method === "FILE" ? "GET" : method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Refused("");
  }
  if (answer.ok && method === "FILE") return answer.blob();
  if (answer.ok) return answer.headers.get("content-type").startsWith("application/json") ? answer.json() : answer.text();
  let said = `${answer.status}`;
  try {
    said = (await answer.json()).error || said;
  } catch { /* no words came with it */ }
  throw new Refused(said);
}

// Changes of the draft wait for one another, so that each begins with what the one before has left;
// whatever else is asked waits for them, so that it is about what is seen.
let changing = Promise.resolve();

export function inTurn(call) {
  const made = changing.then(() => call(ask));
  changing = made.catch(() => {});
  return made;
}

async function asked(method, path, body) {
  await changing;
  return ask(method, path, body);
}

export const get = (path) => asked("GET", path);
export const post = (path, body = {}) => asked("POST", path, body);
export const put = (path, body = {}) => asked("PUT", path, body);

// A file is fetched with the token and then handed to the browser to be kept.
export async function keep(path, name) {
  const url = URL.createObjectURL(await asked("FILE", path));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
