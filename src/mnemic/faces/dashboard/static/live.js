// Tells screens that memory has changed: by the stream of commits, `/v1/feed`, and by asking where that does not answer.
import { ask, meant } from "./api.js";

const EVERY = 3000, AGAIN = 1500, CALM = 250;
const listeners = new Set();
let stream = new AbortController(), timer = 0, told = 0;

/** Call `listener` with "commit" after commits to the memory that is looked at, with "live" and "lost"; returns what ends it. */
export function onCommit(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Say at once that memory has changed: this page itself has done it. */
export const changed = () => tell("commit");

const tell = (state) => listeners.forEach((listener) => listener(state));

/** Commits that come in quick succession are told once, and however long they go on, not later than so. */
function heard() {
  if (!told) told = setTimeout(() => { told = 0; changed(); }, CALM);
}

/** Begin to listen, from now on; called again for another user. */
export function listen() {
  stream.abort();
  clearTimeout(timer);
  stream = new AbortController();
  follow(stream.signal, "");
}

/** Read the stream until it ends, then go on from the last mark. An EventSource could not say whose memory is meant. */
async function follow(signal, mark) {
  try {
    const answer = await fetch("/v1/feed", { headers: { Accept: "text/event-stream", ...meant(), ...(mark ? { "Last-Event-ID": mark } : {}) }, cache: "no-store", signal });
    if (!answer.ok) return poll(signal, null);
    tell("live");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = "", part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (rest + part.value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        mark = /^id: ?(.+)$/m.exec(event)?.[1] ?? mark;
        if (/^event: ?(commit|rewind)$/m.test(event)) heard();
      }
    }
  } catch { /* it broke off: come back */ }
  if (signal.aborted) return undefined;
  tell("lost");
  timer = setTimeout(follow, AGAIN, signal, mark);
  return undefined;
}

/** Ask for what is new every few seconds, from `mark` on. */
async function poll(signal, mark) {
  try {
    if (mark === null) mark = (await ask("log", { limit: 1 })).changes[0]?.seq ?? 0;
    else if (!document.hidden) {
      const found = await ask("changes", { after: mark, limit: 100 });
      mark = found.next;
      if (found.notices.length) heard();
    }
    if (!signal.aborted) tell("live");
  } catch {
    if (!signal.aborted) tell("lost");
  }
  if (!signal.aborted) timer = setTimeout(poll, EVERY, signal, mark);
}
