// Tells screens that memory has changed: by the feed of events where the server has one, else by asking what is new.
import { ask, who } from "./api.js";

const EVERY = 3000;
const listeners = new Set();
let mark = null, stream = null, timer = 0, round = 0;

/** Call `listener` after each commit to the memory that is looked at; returns what ends it. */
export function onCommit(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const tell = (state) => listeners.forEach((listener) => listener(state));

/** Begin to listen, from now on; called again for another user. */
export async function listen() {
  const mine = ++round;
  stream?.close();
  clearTimeout(timer);
  stream = null;
  mark = null;
  if (await streaming(mine) || mine !== round) return;
  poll(mine);
}

/** The feed, where the server answers it. A stream names no user in a header: it is used for the principal's own memory. */
async function streaming(mine) {
  if (who.feed !== true) return false;
  stream = new EventSource("/v1/feed");
  stream.addEventListener("commit", () => mine === round && tell("commit"));
  stream.addEventListener("error", () => tell("lost"));
  stream.addEventListener("open", () => tell("live"));
  return true;
}

async function poll(mine) {
  try {
    if (mark === null) mark = (await ask("log", { limit: 1, every: true })).changes[0]?.seq ?? 0;
    else if (!document.hidden) {
      const told = await ask("changes", { after: mark, limit: 100 });
      mark = told.next;
      if (told.notices.length) tell("commit");
    }
    if (mine === round) tell("live");
  } catch {
    if (mine === round) tell("lost");
  }
  if (mine === round) timer = setTimeout(poll, EVERY, mine);
}
