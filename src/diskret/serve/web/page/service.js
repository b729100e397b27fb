// The service, asked as any client asks it; the token is in the memory of this page only.
import { language } from "./dom.js";

let token = "";
export const use = (given) => { token = given; };

export class Unanswered extends Error {
  constructor(said, status) {
    super(said);
    this.status = status;
  }
}

export async function ask(path, body) {
  const headers = { Authorization: `Bearer ${token}`, "Accept-Language": language };
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), credentials: "omit" }).catch(() => null);
  if (answer?.ok) return answer;
  let said = "";
  try {
    said = (await answer.json()).detail;
  } catch { /* there was no answer in words */ }
  throw new Unanswered(said || "", answer?.status ?? 0);
}

export async function keep(path, body) {
  const answer = await ask(path, body);
  const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") || "")?.[1] || "table";
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
