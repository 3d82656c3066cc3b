// Asks the server: one function for every operation of /openapi.json, with whose memory is meant and the token against forgery.

export class Problem extends Error {
  constructor(details) {
    super(details.detail || details.title || "");
    Object.assign(this, { status: 0, type: "", title: "", detail: "", field: "", remedy: "", request_id: "" }, details);
  }
}

/** Who is signed in, as `/session` says; `user` is whose memory is looked at. */
export const who = { name: "", tenant: "", user: null, right: "read", read_only: true, signed_in: false, bound: false, csrf: "", version: "" };

/** What this browser has kept under a name, or null. */
export const recallKept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
export const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* a private window keeps nothing */ } };

export async function signIn() {
  Object.assign(who, await answered(await reached("/session", {})));
  const chosen = recallKept("mnemic.user");
  if (chosen && mayChooseUser()) who.user = chosen;
}

/** Whether this principal may look at the memory of any user: the owner of the machine, or a key bound to nobody. */
export const mayChooseUser = () => !who.bound;
export const mayWrite = () => !who.read_only && who.right !== "read";
export const mayCare = () => who.right === "admin";

export function chooseUser(user) {
  who.user = user;
  keep("mnemic.user", user);
}

/** The header that says whose memory is meant. */
export const meant = () => (who.user === null ? {} : { "Mnemic-User": encodeURIComponent(who.user) });

/** Run an operation. Raises a `Problem`; `more` may hold `signal` and `expect` (the version that was read). */
export async function ask(operation, given = {}, more = {}) {
  const headers = { "Content-Type": "application/json", Accept: "application/json", ...meant() };
  if (who.csrf) headers["X-CSRF-Token"] = who.csrf;
  const body = JSON.stringify(given);
  return answered(await reached(`/v1/${operation}`, { method: "POST", headers, body, signal: more.signal }));
}

export async function signOut() {
  await reached("/logout", { method: "POST", headers: who.csrf ? { "X-CSRF-Token": who.csrf } : {} });
}

let underWay = 0;
const busy = (change) => {
  underWay += change;
  document.documentElement.toggleAttribute("data-busy", underWay > 0);
};

async function reached(path, how) {
  busy(1);
  try {
    return await fetch(path, { credentials: "same-origin", cache: "no-store", ...how });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "unreachable" });
  } finally {
    busy(-1);
  }
}

async function answered(response) {
  const type = response.headers.get("content-type") || "";
  const told = type.includes("json") ? await response.json() : { title: response.statusText };
  if (response.ok) return told;
  throw new Problem({ ...told, status: response.status, request_id: told.request_id || response.headers.get("x-request-id") || "" });
}
