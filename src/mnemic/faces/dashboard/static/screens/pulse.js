// Pulse, the agent's EEG: window use and pages, hits, faults, evictions, GC pauses, jobs and rates, live.
import { html, useEffect, useRef, useState } from "../vendor/htm-preact.js";
import { ask } from "../api.js";
import { Chip, Stat, Trouble, When, bytes, library, number, useAnswer } from "../parts.js";
import { go } from "../route.js";
import { language, t } from "../words.js";

const EVERY = 2000, KEPT = 300, SHOWN = 180;
/** Looks at the store, kept while the page lives, so that coming back shows what went before. */
const looks = [];

function loadStyle() {
  if (document.getElementById("uplot-style")) return;
  const link = document.createElement("link");
  Object.assign(link, { rel: "stylesheet", id: "uplot-style", href: new URL("../vendor/uplot.css", import.meta.url).href });
  document.head.append(link);
}

export default function Pulse({ route, commits }) {
  const [, redraw] = useState(0);
  const [problem, setProblem] = useState(null);
  const [ready, setReady] = useState(Boolean(window.uPlot));
  const stats = useAnswer("stats", { limit: 1 }, [commits]);
  useEffect(() => {
    loadStyle();
    library("uplot").then(() => setReady(true), () => setProblem({ title: "unreachable" }));
    let timer = 0, wanted = true;
    const look = async () => {
      try {
        if (!document.hidden || looks.length === 0) looks.push(await ask("vitals"));
        looks.splice(0, looks.length - KEPT);
        setProblem(null);
      } catch (error) { setProblem(error); }
      if (!wanted) return;
      redraw((n) => n + 1);
      timer = setTimeout(look, EVERY);
    };
    look();
    return () => { wanted = false; clearTimeout(timer); };
  }, []);
  const now = looks.at(-1);
  const at = looks.map((one) => Date.parse(one.at) / 1000);
  const each = (read) => looks.map(read);
  /** How much a counter rose from one look to the next. */
  const rise = (read) => looks.map((one, place) => (place ? Math.max(0, read(one) - read(looks[place - 1])) : 0));
  const waiting = (one) => one.lanes.reduce((sum, lane) => sum + lane.pending, 0) + Object.entries(one.jobs).reduce((sum, [state, count]) => sum + (["done", "cancelled"].includes(state) ? 0 : count), 0);
  return html`<section class="screen" aria-label=${t("pulse")}><div class="head"><h1>${t("pulse")}</h1>${now && html`<span class="faint"><${When} at=${now.at} /></span>`}</div>
    <div class="scroll"><${Trouble} problem=${problem} />
    ${now && html`<div class="stats">
      <${Stat} name=${t("pulse.items")} value=${stats.data ? number(stats.data.items) : "…"} note=${stats.data && t("pulse.users", { count: number(stats.data.user_count) })} />
      <${Stat} name=${t("pulse.commits")} value=${number(now.commits)} note=${t("pulse.a_second", { count: number(now.commits_per_second, 1) })} />
      <${Stat} name=${t("pulse.windows")} value=${now.windows.budget ? `${number((now.windows.tokens / now.windows.budget) * 100)}%` : "–"} note=${`${number(now.windows.open)} / ${number(now.windows.known)} ${t("pulse.open")}`} />
      <${Stat} name=${t("waits")} value=${number(waiting(now))} note=${now.lanes.filter((lane) => lane.pending).map((lane) => lane.lane).join(", ")} />
      <${Stat} name=${t("pulse.collected")} value=${now.collected ? `${number(now.collected.pause * 1000, 1)} ms` : "–"} note=${now.collected ? html`<${When} at=${now.collected.at} />` : t("pulse.never")} />
      <${Stat} name=${t("pulse.file")} value=${bytes(now.bytes)} note=${t("pulse.free", { free: bytes(now.free_bytes) })} />
      <${Stat} name=${t("pulse.processes")} value=${number(now.processes.length)} note=${now.processes.slice(0, 3).map((one) => one.pid).join(", ")} /></div>`}
    ${now && ready && html`<div class="charts">
      <${Chart} title=${t("pulse.windows")} at=${at} lines=${[[t("pulse.tokens"), "--accent", each((one) => one.windows.tokens), true], [t("pulse.budget"), "--faint", each((one) => one.windows.budget)], [t("pulse.pages"), "--violet", each((one) => one.windows.pages)]]} />
      <${Chart} title=${t("pulse.paging")} at=${at} lines=${[[t("pulse.hits"), "--accent", rise((one) => one.windows.hits), true], [t("pulse.faults"), "--danger", rise((one) => one.windows.faults)], [t("pulse.evictions"), "--amber", rise((one) => one.windows.evictions)]]} />
      <${Chart} title=${t("pulse.rates")} at=${at} lines=${[[t("pulse.commits"), "--accent", each((one) => one.commits_per_second), true], [t("pulse.verbs"), "--blue", each((one) => Object.values(one.verbs).reduce((sum, verb) => sum + verb.per_second, 0))]]} />
      <${Chart} title=${t("pulse.pauses")} at=${at} lines=${[[t("pulse.pause"), "--danger", each((one) => (one.collected ? one.collected.pause * 1000 : 0))], [t("pulse.jobs"), "--amber", each(waiting), true]]} /></div>`}
    <${Windows} route=${route} commits=${commits} />
    ${now && html`<${Verbs} verbs=${now.verbs} />`}
    </div></section>`;
}

function Chart({ title, at, lines }) {
  const plate = useRef(null), plot = useRef(null);
  const data = [at, ...lines.map((line) => line[2])], latest = useRef(data);
  latest.current = data; // a change of the light draws what stands then
  const make = () => {
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
    plot.current?.destroy();
    const axis = { stroke: colour("--muted"), font: "11px system-ui, sans-serif", grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    plot.current = new window.uPlot({
      width: plate.current.clientWidth, height: 148, legend: { show: false }, cursor: { points: { size: 6 } }, padding: [10, 8, 0, 0],
      scales: { x: { time: true, range: (_, low, high) => [(high ?? 0) - SHOWN, high ?? 0] }, y: { range: (_, low, high) => [0, Math.max(1, (high ?? 0) * 1.15)] } },
      axes: [{ ...axis, size: 26, values: (_, ticks) => ticks.map((tick) => new Date(tick * 1000).toLocaleTimeString(language(), { minute: "2-digit", second: "2-digit", hour: "2-digit", hourCycle: "h23" })), space: 76 }, { ...axis, size: 46, values: (_, ticks) => ticks.map((tick) => new Intl.NumberFormat(language(), { notation: "compact", maximumFractionDigits: 1 }).format(tick)) }],
      series: [{}, ...lines.map(([label, name, , filled]) => ({ label, stroke: colour(name), width: 1.8, points: { show: false }, ...(filled ? { fill: `color-mix(in srgb, ${colour(name)} 14%, transparent)` } : {}) }))],
    }, latest.current, plate.current);
  };
  useEffect(() => {
    make();
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: plate.current.clientWidth, height: 148 }));
    sized.observe(plate.current);
    document.addEventListener("theme", make);
    return () => { document.removeEventListener("theme", make); sized.disconnect(); plot.current?.destroy(); plot.current = null; };
  }, []);
  useEffect(() => plot.current?.setData(data), [at.length, at.at(-1)]);
  const last = (values) => number(values.at(-1) ?? 0, 1);
  return html`<figure class="chart" style=${{ margin: 0 }}><h3>${title}</h3><div class="plot" ref=${plate} role="img" aria-label=${title}></div>
    <figcaption class="legend">${lines.map(([label, name, values]) => html`<span><i style=${{ background: `var(${name})` }}></i>${label} <b>${last(values)}</b></span>`)}</figcaption></figure>`;
}

function Windows({ route, commits }) {
  const { data, problem } = useAnswer("sessions", { limit: 50 }, [commits]);
  if (problem) return html`<${Trouble} problem=${problem} />`;
  return html`<h3>${t("pulse.sessions")}</h3>${data?.sessions.length === 0 && html`<p class="note">${t("pulse.sessions.none")}</p>`}
    <div class="cards" style=${{ marginBottom: "16px" }}>${data?.sessions.map((one) => html`<${Window} one=${one} route=${route} commits=${commits} key=${one.session} />`)}</div>`;
}

function Window({ one, route, commits }) {
  const { data } = useAnswer("session_pages", { name: one.session }, [commits, one.seq]);
  const pages = data?.pages ?? [], held = pages.filter((page) => page.resident).reduce((sum, page) => sum + page.tokens, 0);
  return html`<article class="card"><div class="line" style=${{ marginBottom: "6px" }}><b dir="auto">${one.session}</b><span>${one.policy}</span><span>${t("turns")} ${number(one.turns)}</span>${one.open_until && html`<${Chip} tone="good">${t("pulse.open")}</${Chip}>`}
      <span style=${{ marginLeft: "auto" }}>${number(held)} / ${number(one.budget)} ${t("pulse.tokens")} · ${t("full", { share: number((held / one.budget) * 100) })}</span></div>
    <div class="pages">${pages.slice(0, 400).map((page) => html`<button class=${`page ${page.tier === "middle" ? "middle" : ""} ${page.pinned ? "pinned" : ""}`} style=${{ width: `${Math.max(6, Math.min(90, page.tokens / 3))}px` }} title=${`${page.tokens} ${t("pulse.tokens")} · ${t(page.resident ? "pulse.resident" : "pulse.middle")}`} aria-label=${page.id} onClick=${() => go("pulse", { ...route.given, item: page.id })}></button>`)}</div>
    <div class="legend" style=${{ marginTop: "6px" }}><span><i style=${{ background: "var(--accent)" }}></i>${t("pulse.resident")}</span><span><i style=${{ background: "var(--sunk)", outline: "1px solid var(--line)" }}></i>${t("pulse.middle")}</span><span><i style=${{ background: "var(--amber)" }}></i>${t("pinned")}</span></div></article>`;
}

function Verbs({ verbs }) {
  const rows = Object.entries(verbs).sort(([, a], [, b]) => b.total - a.total).slice(0, 16);
  if (rows.length === 0) return null;
  return html`<div class="table"><table><thead><tr><th>${t("verb")}</th><th class="n">${t("count")}</th><th class="n">p50 ms</th><th class="n">p95 ms</th><th class="n">${t("longest")} ms</th><th class="n">${t("failed.count")}</th></tr></thead>
    <tbody>${rows.map(([name, one]) => html`<tr><td><code>${name}</code></td><td class="n">${number(one.count)}</td><td class="n">${number(one.p50, 1)}</td><td class="n">${number(one.p95, 1)}</td><td class="n">${number(one.max, 1)}</td><td class="n">${number(one.failed)}</td></tr>`)}</tbody></table></div>`;
}
