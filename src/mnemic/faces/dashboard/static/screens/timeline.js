// Timeline: every commit of this memory under a slider; what was known after one, what has changed since, and undo.
import { html, useCallback, useEffect, useRef, useState } from "../vendor/htm-preact.js";
import { ask, mayWrite } from "../api.js";
import { Chip, Dialog, Empty, Icon, Kind, Trouble, VirtualList, When, number, toast, undo, useAnswer, useDoing, useKeys, useLater, usePages } from "../parts.js";
import { go } from "../route.js";
import { t, tagged } from "../words.js";
import { Row } from "./browse.js";

const VIEWS = ["known", "changed", "commit"];

export default function Timeline({ route, commits }) {
  const head = useAnswer("log", { limit: 1 }, [commits]);
  const last = head.data?.changes[0]?.seq;
  const first = useAnswer("log", { limit: 1, newest: false }, [head.data !== null && last === undefined]);
  if (head.problem) return html`<section class="screen"><div class="scroll"><${Trouble} problem=${head.problem} retry=${head.again} /></div></section>`;
  if (!head.data || !first.data) return html`<section class="screen"></section>`;
  if (!last) return html`<section class="screen"><${Empty} title=${t("then.empty")}>${t("then.empty.how")}</${Empty}></section>`;
  if (!first.data.changes.length) return html`<section class="screen"></section>`; // it was empty a moment ago
  return html`<${Journal} route=${route} commits=${commits} last=${last} first=${first.data.changes[0].seq} />`;
}

function Journal({ route, commits, last, first }) {
  const chosen = Math.max(first, Math.min(last, Number(route.given.then) || last));
  const [dragged, setDragged] = useState(null);
  const view = VIEWS.includes(route.given.view) ? route.given.view : "commit";
  const seq = dragged ?? chosen;
  const timer = useRef(0);
  const choose = (to, more = {}) => go("timeline", { ...route.given, item: null, then: to === last ? null : to, ...more }, true);
  const drag = (to) => {
    setDragged(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => { setDragged(null); choose(to); }, 120);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  // Commits of other users lie between ours: what is chosen among them is the next of ours.
  const near = useAnswer("log", { after: chosen - 1, limit: 1, newest: false }, [commits]);
  const commit = near.data?.changes[0] ?? null;
  useKeys({ ArrowLeft: () => choose(Math.max(first, chosen - 1)), ArrowRight: () => choose(Math.min(last, chosen + 1)) });
  return html`<section class="screen" aria-label=${t("timeline")}>
    <div class="head"><h1>${t("timeline")}</h1><span class="faint">${t("then.at", { seq: number(seq) })}${commit && html` · <${When} at=${commit.at} />`}</span><span class="grow"></span>
      <div class="tabs" role="tablist">${VIEWS.map((one) => html`<button role="tab" aria-selected=${one === view} onClick=${() => choose(chosen, { view: one })}>${t(`then.${one}`)}</button>`)}</div>
      ${chosen !== last && html`<button onClick=${() => choose(last)}>${t("then.live")}</button>`}
    </div>
    <div class="slider"><${Ticks} first=${first} last=${last} at=${seq} commits=${commits} />
      <input type="range" min=${first} max=${last} value=${seq} aria-label=${t("timeline")} aria-valuetext=${t("then.at", { seq })} onInput=${(event) => drag(Number(event.currentTarget.value))} />
      <div class="ends"><span>${t("commit", { seq: number(first) })}</span><span>${t("commit", { seq: number(last) })}</span></div></div>
    ${view === "commit" && html`<${Log} route=${route} chosen=${commit} choose=${choose} commits=${commits} last=${last} key="log" />`}
    ${view === "known" && html`<${Known} route=${route} seq=${chosen} key=${`known ${chosen}`} />`}
    ${view === "changed" && html`<${Changed} route=${route} seq=${chosen} last=${last} commits=${commits} />`}
  </section>`;
}

/** How many things each stretch of the journal changed, drawn over the slider: the latest commits, as far as one page reaches. */
function Ticks({ first, last, at, commits }) {
  const canvas = useRef(null);
  const { data } = useAnswer("log", { limit: 1000 }, [commits]);
  useEffect(() => {
    const element = canvas.current;
    if (!data || !element) return undefined;
    const draw = () => {
      const wide = element.clientWidth, dense = devicePixelRatio || 1, pen = element.getContext("2d");
      element.width = wide * dense;
      element.height = 26 * dense;
      pen.scale(dense, dense);
      const style = getComputedStyle(document.documentElement), heights = new Float64Array(Math.max(1, Math.floor(wide / 3)));
      const place = (seq) => Math.round(((seq - first) / Math.max(1, last - first)) * (heights.length - 1));
      for (const change of data.changes) heights[place(change.seq)] += Math.max(1, change.events.length);
      const most = Math.max(...heights, 1);
      heights.forEach((height, index) => {
        pen.fillStyle = style.getPropertyValue(index <= place(at) ? "--accent" : "--line");
        const high = height ? 3 + (Math.log1p(height) / Math.log1p(most)) * 21 : 1;
        pen.fillRect(8 + (index / heights.length) * (wide - 16), 26 - high, 2, high);
      });
    };
    draw();
    document.addEventListener("theme", draw);
    return () => document.removeEventListener("theme", draw);
  }, [data, at, first, last]);
  return html`<div class="ticks"><canvas ref=${canvas} aria-hidden="true"></canvas></div>`;
}

export function told(change) {
  const counts = new Map();
  for (const event of change.events) counts.set(event.verb, (counts.get(event.verb) ?? 0) + 1);
  return [...counts].map(([verb, count]) => `${tagged("verb", verb)}${count > 1 ? ` ${count}` : ""}`).join(", ");
}

function Log({ route, chosen, choose, commits, last }) {
  const page = useCallback(async (after) => {
    const found = await ask("log", { limit: after === undefined ? 60 : 200, ...(after === undefined ? {} : { after }) });
    return { rows: found.changes, next: found.next };
  }, []);
  const { rows, next, problem, more, renew } = usePages(page, [page]);
  useLater(renew, [commits]);
  const entry = (one) => html`<div class="text"><b>${t("commit", { seq: number(one.seq) })}</b> · ${told(one)}</div>
    <div class="line"><${When} at=${one.at} /><span>${t("by")} <bdi>${one.actor}</bdi></span>${one.cause !== null && html`<span>← ${t("commit", { seq: one.cause })}</span>`}${one.events.some((event) => event.erased) && html`<${Chip} tone="danger">${t("erased")}</${Chip}>`}<code>${one.hash.slice(0, 10)}</code></div>`;
  return html`<div class="logs"><div class="logs-list">${problem && html`<${Trouble} problem=${problem} />`}
    <${VirtualList} label=${t("timeline")} rows=${rows} height=${56} keyOf=${(one) => one.seq} selected=${chosen?.seq} more=${next ? more : null} onOpen=${(one) => choose(one.seq)} row=${entry} /></div>
    ${chosen && html`<${Commit} change=${chosen} route=${route} last=${last} key=${chosen.seq} />`}</div>`;
}

function Commit({ change, route, last }) {
  const { data, problem } = useAnswer("written", { seq: change.seq });
  const [cascade, setCascade] = useState(false);
  const [sure, setSure] = useState(false);
  const doing = useDoing();
  const done = (receipt) => { setCascade(false); toast(t("undone", { seq: change.seq }), { name: t("redo"), run: () => undo(receipt.seq) }); };
  const take = (given) => doing.run("undo", { seq: change.seq, ...given }, done).then((receipt) => receipt === null && !given.cascade && setCascade(true));
  return html`<div class="commit"><div class="line"><h2>${t("commit", { seq: number(change.seq) })}</h2><${When} at=${change.at} /><span>${t("by")} <bdi>${change.actor}</bdi></span></div>
    ${mayWrite() && html`<div class="actions"><button disabled=${doing.busy} onClick=${() => take({})}><${Icon} name="undo" size="15" />${t("undo")}</button>${change.seq !== last && html`<button onClick=${() => setSure(true)}>${t("then.revert")}</button>`}</div>`}
    <${Trouble} problem=${doing.problem} />
    ${cascade && html`<button onClick=${() => take({ cascade: true })}>${t("then.cascade.do")}</button>`}
    <div class="line">${[...new Set(change.events.map((event) => event.verb))].map((verb) => html`<${Chip}>${tagged("verb", verb)} ${change.events.filter((event) => event.verb === verb).length}</${Chip}>`)}</div>
    <${Trouble} problem=${problem} />
    <div class="cards">${data?.versions.slice(0, 100).map((one) => html`<button class="wrote" onClick=${() => go("timeline", { ...route.given, item: one.id })}><span class="line"><${Kind} kind=${one.kind} />${one.state !== "active" && html`<${Chip} tone="warn">${t(`state.${one.state}`)}</${Chip}>`}</span><span dir="auto">${one.text}</span></button>`)}</div>
    ${data?.versions.length > 100 && html`<p class="faint">${t("and_more", { count: data.versions.length - 100 })}</p>`}
    ${sure && html`<${Dialog} title=${t("then.revert")} onClose=${() => setSure(false)}><p>${t("then.revert.sure", { seq: change.seq })}</p><div class="actions"><button onClick=${() => setSure(false)}>${t("cancel")}</button>
      <button class="main-action" onClick=${() => { setSure(false); doing.run("revert", { seq: change.seq }, (receipt) => toast(t("then.reverted"), { name: t("undo"), run: () => undo(receipt.seq) })); }}>${t("then.revert")}</button></div></${Dialog}>`}
  </div>`;
}

function Known({ route, seq }) {
  const page = useCallback(async (after) => {
    const found = await ask("list", { at: seq, limit: 100, ...(after === undefined ? {} : { after }) });
    return { rows: found.items, next: found.next };
  }, [seq]);
  const { rows, next, problem, busy, more } = usePages(page, [page]);
  if (problem) return html`<div class="scroll"><${Trouble} problem=${problem} /></div>`;
  if (!busy && rows.length === 0) return html`<${Empty} title=${t("then.empty")}></${Empty}>`;
  return html`<${VirtualList} label=${t("then.known")} rows=${rows} height=${62} keyOf=${(one) => one.id} selected=${route.given.item} more=${next ? more : null}
    onOpen=${(one) => go("timeline", { ...route.given, then: seq, item: one.id }, Boolean(route.given.item))} row=${(one) => html`<${Row} one=${one} />`} />`;
}

function Changed({ route, seq, last, commits }) {
  const { data, problem } = useAnswer("diff", { a: seq }, [commits]);
  const [most, setMost] = useState(60);
  if (problem) return html`<div class="scroll"><${Trouble} problem=${problem} /></div>`;
  if (data && data.items.length === 0) return html`<${Empty} title=${t("then.same")}>${t("then.at", { seq: last })}</${Empty}>`;
  return html`<div class="scroll"><div class="cards">${data?.items.slice(0, most).map((one) => {
    const shown = one.after ?? one.before, words = one.before?.text !== one.after?.text;
    return html`<article class="card hit" onClick=${() => go("timeline", { ...route.given, item: one.id })}><div class="line"><${Kind} kind=${shown.kind} />${one.before && one.after && html`<${Marks} before=${one.before} after=${one.after} />`}</div>
      <div class="diff">${one.before && (words || !one.after) && html`<div class="gone" dir="auto">${one.before.text}</div>`}${one.after && html`<div class=${words ? "came" : "same"} dir="auto">${one.after.text}</div>`}</div></article>`;
  })}${data && data.items.length > most && html`<button onClick=${() => setMost(most + 200)}>${t("and_more", { count: data.items.length - most })}</button>`}</div></div>`;
}

const Marks = ({ before, after }) => html`${before.state !== after.state && html`<${Chip} tone="warn">${t(`state.${before.state}`)} → ${t(`state.${after.state}`)}</${Chip}>`}
  ${before.pinned !== after.pinned && html`<${Chip}>${t(after.pinned ? "pinned" : "unpinned")}</${Chip}>`}${before.valid_to !== after.valid_to && html`<${Chip}>${t("valid")} → <${When} at=${after.valid_to} clock=${false} /></${Chip}>`}`;
