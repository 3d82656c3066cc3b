// Parts that screens share: problems, empty states, badges, times, dialogs, toasts, and a list that draws only what is seen.
import { html, useEffect, useLayoutEffect, useRef, useState, useCallback } from "./vendor/htm-preact.js";
import { ask } from "./api.js";
import { changed } from "./live.js";
import { detailOf, remedyOf, titleOf } from "./server_words.js";
import { language, t } from "./words.js";

const ICONS = {
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14Zm5.2 12.2L21 21",
  browse: "M4 6h16M4 12h16M4 18h10",
  timeline: "M12 4a8 8 0 1 1-7.4 5M4 4v5h5M12 8v4.5l3 2",
  graph: "M6 7.5a2 2 0 1 0 0-.01ZM18 6a2 2 0 1 0 0-.01ZM13 18a2 2 0 1 0 0-.01ZM8 7.2l8-1M7 9l5 7.5M17.3 8l-3.6 8.2",
  pulse: "M3 13h4l2-7 4 13 3-9 1.6 3H21",
  review: "M4 5h16v11H9l-5 4ZM12 8v3.2M12 13.4v.1",
  work: "M4 7h10M4 12h16M4 17h7M17 5l3 2-3 2",
  cost: "M12 3v18M16.5 7.5C16 5.8 14.3 5 12 5 9.5 5 7.7 6.2 7.7 8.3c0 4.6 9 2.4 9 7.2 0 2.2-2 3.5-4.7 3.5-2.6 0-4.4-1-4.9-3",
  keys: "M8.5 8a4.5 4.5 0 1 1 0 8.9 4.5 4.5 0 0 1 0-8.9ZM12.6 12.4H21v3.4M17 12.4v2.6",
  branches: "M7 4v16M7 15c0-4 10-3 10-8M15 9.5 17 7l2 2.5", holds: "M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5Z",
  pin: "M9 4h6l-1 6 3 3H7l3-3ZM12 13v7", close: "M6 6l12 12M18 6 6 18", undo: "M8 5 4 9l4 4M4 9h10a5 5 0 0 1 0 10h-3",
  plus: "M12 5v14M5 12h14", moon: "M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5Z", help: "M9 9.2A3 3 0 1 1 12 13v1.5M12 17.6v.1",
  language: "M4 6h9M8.5 4v2c0 4-2 6.5-4.5 8M6 10c1 2.5 3 4 5.5 4.8M12.5 20l4-10 4 10M14 17h5",
  more: "M5 12h.1M12 12h.1M19 12h.1",
};

export const Icon = ({ name, size = 18 }) => html`<svg class="icon" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true"><path d=${ICONS[name]} /></svg>`;

/** A tag by which a strategy looks up what it derived: a digest, which tells a person nothing. */
const lookup = (item, tag) => item.source.length > 0 && /^[0-9a-f]{16}$/.test(tag);
/** The tags of an item that say something, and how many are there only for a strategy to find it. */
export const tagsOf = (item) => { const telling = item.tags.filter((tag) => !lookup(item, tag)); return { telling, others: item.tags.length - telling.length }; };

/** What went wrong, in the words of the server, with the id under which it is logged. */
export const Trouble = ({ problem, retry }) => problem && html`<div class="trouble" role="alert">
  <b>${problem.title === "unreachable" ? t("unreachable") : titleOf(problem) || t("failed")}</b>
  ${problem.detail && problem.detail !== problem.title && html`<p dir="auto">${detailOf(problem)}</p>`}
  ${problem.remedy && html`<p dir="auto">${remedyOf(problem)}</p>`}
  <p class="faint">${problem.status ? `HTTP ${problem.status}` : ""}${problem.request_id ? html` · ${t("request")} <code>${problem.request_id}</code>` : ""}</p>
  ${retry && html`<button onClick=${retry}>${t("again")}</button>`}
</div>`;

export const Empty = ({ title, children }) => html`<div class="empty"><b>${title}</b><p>${children}</p></div>`;
export const Kind = ({ kind }) => html`<span class=${`kind k-${kind}`}>${t(`kind.${kind}`)}</span>`;
export const Chip = ({ children, tone = "" }) => html`<span class=${`chip ${tone}`}>${children}</span>`;
export const Stat = ({ name, value, note }) => html`<div class="stat"><span>${name}</span><b>${value}</b>${note && html`<i>${note}</i>`}</div>`;

export const number = (value, digits = 0) => new Intl.NumberFormat(language(), { maximumFractionDigits: digits }).format(value);
export function bytes(value) {
  const sizes = ["B", "KB", "MB", "GB", "TB"];
  const step = value > 0 ? Math.min(4, Math.floor(Math.log2(value) / 10)) : 0;
  return `${number(value / 1024 ** step, step ? 1 : 0)} ${sizes[step]}`;
}

/** A moment, short; its whole form on hovering. */
export function When({ at, clock = true }) {
  if (!at) return null;
  const date = new Date(clock ? at : `${at.slice(0, 10)}T00:00`); // a day is that day in every zone
  const thisYear = date.getFullYear() === new Date().getFullYear();
  const form = { month: "short", day: "numeric", ...(thisYear ? {} : { year: "numeric" }), ...(clock ? { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } : {}) };
  return html`<time datetime=${at} title=${at}>${new Intl.DateTimeFormat(language(), form).format(date)}</time>`;
}

/** Ask an operation when `given` changes; answers { data, problem, busy, again }. `null` asks nothing. */
export function useAnswer(operation, given, deps = []) {
  const [state, set] = useState({ data: null, problem: null, busy: false });
  const [turn, setTurn] = useState(0);
  const key = given === null ? null : JSON.stringify(given);
  useEffect(() => {
    if (key === null) return set({ data: null, problem: null, busy: false });
    const gone = new AbortController();
    set((before) => ({ ...before, busy: true }));
    ask(operation, JSON.parse(key), { signal: gone.signal }).then(
      (data) => set({ data, problem: null, busy: false }),
      (problem) => problem.name === "AbortError" || set({ data: null, problem, busy: false }),
    );
    return () => gone.abort();
  }, [operation, key, turn, ...deps]);
  return { ...state, again: useCallback(() => setTurn((n) => n + 1), []) };
}

/**
 * Rows by cursor pages: more are asked for as the end comes near. `page(after)` answers { rows, next }.
 * One load runs at a time, and what is asked for meanwhile comes after it: memory may be written to faster than it is listed.
 * `again` begins with the first page alone, `renew` reads anew as many pages as are shown.
 */
export function usePages(page, deps) {
  const [state, set] = useState({ rows: [], next: undefined, problem: null, busy: true });
  const current = useRef({ run: 0, busy: false, next: undefined, pages: 1, renewing: false, stale: 0, wanted: false });
  const load = useCallback(async (run, after, pages = 1) => {
    const now = current.current;
    Object.assign(now, { busy: true, renewing: after === undefined });
    set((before) => ({ ...before, busy: true }));
    try {
      const rows = [];
      let next = after, read = 0;
      do {
        const found = await page(next);
        if (run !== now.run) return; // it lists something else by now
        rows.push(...found.rows);
        next = found.next;
        read += 1;
      } while (next && read < pages);
      Object.assign(now, { next, pages: after === undefined ? read : now.pages + read });
      set((before) => ({ rows: after === undefined ? rows : before.rows.concat(rows), next, problem: null, busy: false }));
    } catch (problem) {
      if (run !== now.run) return; // it lists something else by now
      set((before) => ({ ...before, problem, busy: false }));
    }
    const { stale, wanted } = now;
    Object.assign(now, { busy: false, stale: 0, wanted: false });
    if (stale) load(run, undefined, stale);
    else if (wanted && now.next) load(run, now.next);
  }, deps);
  const anew = useCallback((pages) => {
    const now = current.current;
    if (now.busy) now.stale = pages;
    else load(now.run, undefined, pages);
  }, [load]);
  useEffect(() => {
    const run = current.current.run + 1;
    Object.assign(current.current, { run, busy: false, next: undefined, pages: 1, stale: 0, wanted: false });
    load(run, undefined);
    return () => { current.current.run += 1; };
  }, [load]);
  const more = useCallback(() => {
    const now = current.current;
    if (!now.next) return;
    if (now.busy) now.wanted = now.wanted || now.renewing;
    else load(now.run, now.next);
  }, [load]);
  return { ...state, more, again: useCallback(() => anew(1), [anew]), renew: useCallback(() => anew(current.current.pages), [anew]) };
}

/** The records called `name` of an operation that lists by pages; those shown are read anew when `deps` change. */
export function useListing(operation, name, given, deps) {
  const key = JSON.stringify(given);
  const page = useCallback(async (after) => {
    const found = await ask(operation, { limit: 200, ...JSON.parse(key), ...(after === undefined ? {} : { after }) });
    return { rows: found[name], next: found.next };
  }, [operation, name, key]);
  const listed = usePages(page, [page]);
  useLater(listed.renew, deps);
  return listed;
}

/** Run `effect` when `deps` change, and not when a part is first shown. */
export function useLater(effect, deps) {
  const shown = useRef(false);
  useEffect(() => {
    if (shown.current) effect();
    shown.current = true;
  }, deps);
}

/** Asks for the next page of a listing, where there is one. */
export const More = ({ of }) => of.next && html`<button disabled=${of.busy} onClick=${of.more}>${t("more")}</button>`;

/** A list of which only the rows that are seen are drawn; each is `height` high. j, k and the arrows move through it. */
export function VirtualList({ rows, height, row, keyOf, onOpen, more, selected, label }) {
  const box = useRef(null);
  const [view, setView] = useState({ top: 0, high: 800 });
  const latest = useRef(selected); // two keys may come before the first is drawn
  latest.current = selected;
  const place = () => rows.findIndex((one) => keyOf(one) === latest.current);
  useLayoutEffect(() => {
    const measure = () => box.current && setView({ top: box.current.scrollTop, high: box.current.clientHeight });
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(box.current);
    return () => watching.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / height) - 8);
  const last = Math.min(rows.length, Math.ceil((view.top + view.high) / height) + 8);
  useEffect(() => {
    if (more && rows.length && last > rows.length - 60) more();
  }, [last, rows.length, more]);
  const go = (to) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (!next) return;
    latest.current = keyOf(next);
    onOpen(next);
    const at = Math.max(0, Math.min(rows.length - 1, to)) * height, element = box.current;
    if (at < element.scrollTop) element.scrollTop = at;
    else if (at + height > element.scrollTop + element.clientHeight) element.scrollTop = at + height - element.clientHeight;
  };
  useKeys({
    j: () => go(place() + 1), k: () => go(place() - 1), ArrowDown: () => go(place() + 1), ArrowUp: () => go(place() - 1),
    Home: () => go(0), End: () => go(rows.length - 1), PageDown: () => go(place() + 10), PageUp: () => go(place() - 10),
  });
  return html`<div class="list" ref=${box} role="listbox" aria-label=${label} tabindex="0"
      onScroll=${(event) => setView({ top: event.currentTarget.scrollTop, high: event.currentTarget.clientHeight })}>
    <div class="list-whole" style=${{ height: `${rows.length * height}px` }}>
      ${rows.slice(first, last).map((one, index) => html`<div class=${`row ${keyOf(one) === selected ? "chosen" : ""}`} role="option" key=${keyOf(one)}
        aria-selected=${keyOf(one) === selected} aria-setsize=${rows.length} aria-posinset=${first + index + 1}
        style=${{ top: `${(first + index) * height}px`, height: `${height}px` }} onClick=${() => onOpen(one)}>${row(one)}</div>`)}
    </div>
  </div>`;
}

const bound = [];
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const inDialog = document.querySelector("dialog[open]");
  for (const keys of [...bound].reverse().sort((a, b) => Boolean(b.current.first) - Boolean(a.current.first))) {
    const does = keys.current[event.key];
    if (!does || (writing && event.key !== "Escape") || (inDialog && !keys.current.inDialog)) continue;
    if (does(event) === false) continue;
    event.preventDefault();
    return;
  }
});

/**
 * Bind keys while a part is shown; what was shown last comes first, and leaves a key to the others by answering `false`.
 * `first` comes before all that was shown later, `inDialog` is heard in a dialog too.
 */
export function useKeys(keys) {
  const held = useRef(keys);
  held.current = keys;
  useEffect(() => {
    bound.push(held);
    return () => bound.splice(bound.indexOf(held), 1);
  }, []);
}

export function Dialog({ title, onClose, children, wide }) {
  const element = useRef(null);
  useEffect(() => {
    const shown = element.current;
    shown.showModal();
    return () => shown.close();
  }, []);
  return html`<dialog ref=${element} class=${wide ? "wide" : ""} aria-label=${title} onCancel=${(event) => { event.preventDefault(); onClose(); }}
      onClick=${(event) => event.target === element.current && onClose()}>
    <div class="dialog-body"><header><h2>${title}</h2><button class="plain" aria-label=${t("close")} onClick=${onClose}><${Icon} name="close" /></button></header>${children}</div>
  </dialog>`;
}

/** Whether a key was pressed on something that does something of its own by it. */
export const pressedOn = (event) => Boolean(event.target.closest?.("a, button, summary, [tabindex='0']:not(.list)"));

let showToast = () => undefined;
/** Say that something was done, with a way to take it back. */
export const toast = (text, action) => showToast({ text, action });
/** Say nothing any more: what could be taken back is another's. */
export const hush = () => showToast(null);
export function Toasts() {
  const [shown, setShown] = useState(null);
  showToast = setShown;
  useEffect(() => {
    const timer = shown && setTimeout(setShown, 9000, null);
    return () => clearTimeout(timer);
  }, [shown]);
  return shown && html`<div class="toast" role="status"><span>${shown.text}</span>
    ${shown.action && html`<button onClick=${() => { setShown(null); shown.action.run(); }}>${shown.action.name}</button>`}
    <button class="plain" aria-label=${t("close")} onClick=${() => setShown(null)}><${Icon} name="close" size="14" /></button></div>`;
}

/** Do something that changes memory; a problem is shown, what is done is said. */
export function useDoing() {
  const [state, set] = useState({ busy: false, problem: null });
  const run = async (operation, given, after) => {
    set({ busy: true, problem: null });
    try {
      const receipt = await ask(operation, given);
      set({ busy: false, problem: null });
      await after?.(receipt);
      changed();
      return receipt;
    } catch (problem) {
      set({ busy: false, problem });
      return null;
    }
  };
  return { ...state, run, clear: () => set({ busy: false, problem: null }) };
}

/** Take a commit back, on the branch where it was made, and say so. */
export async function undo(seq, on = {}) {
  try {
    const receipt = await ask("undo", { seq, ...on });
    changed();
    toast(t("undone", { seq }), { name: t("redo"), run: () => undo(receipt.seq, on) });
  } catch (problem) {
    toast(problem.message);
  }
}

const policy = window.trustedTypes?.createPolicy("vendor", {
  createScriptURL: (address) => {
    const url = new URL(address, import.meta.url);
    if (url.origin !== location.origin || !url.pathname.startsWith(new URL("./vendor/", import.meta.url).pathname)) throw new TypeError(address);
    return url.href;
  },
});
const loaded = new Map();
/** Load a library of ours that a screen needs; it is asked for once. */
export function library(name) {
  if (!loaded.has(name)) {
    loaded.set(name, new Promise((resolve, reject) => {
      const script = document.createElement("script");
      const address = new URL(`./vendor/${name}.js`, import.meta.url).href;
      script.src = policy ? policy.createScriptURL(address) : address;
      script.onload = resolve;
      script.onerror = () => { loaded.delete(name); reject(new Error(name)); };
      document.head.append(script);
    }));
  }
  return loaded.get(name);
}
