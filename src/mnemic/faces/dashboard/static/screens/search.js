// Search: the best evidence for a question, why each item is there, what every stage did, and why something is not there.
import { html, useEffect, useRef, useState } from "../vendor/htm-preact.js";
import { ask } from "../api.js";
import { Chip, Empty, Icon, Kind, Trouble, When, number, pressedOn, useAnswer, useKeys } from "../parts.js";
import { go } from "../route.js";
import { said } from "../server_words.js";
import { t, tagged } from "../words.js";

const WAIT = 180;
const LIKELY = 0.5; // the confidence of an answer from which a note does not say beside it that memory holds none

export function Search({ route }) {
  const { q = "", as_of = "", k = "10" } = route.given;
  const [typed, setTyped] = useState(q);
  const box = useRef(null);
  const timer = useRef(0);
  useEffect(() => { box.current?.focus({ preventScroll: true }); return () => clearTimeout(timer.current); }, []);
  useEffect(() => { if (document.activeElement !== box.current) setTyped(q); }, [q]);
  const change = (value) => {
    setTyped(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => go("search", { ...route.given, q: value.trim(), item: null }, true), WAIT);
  };
  const given = q ? { query: q, k: Number(k), explain: true, ...(as_of ? { as_of } : {}) } : null;
  const found = useAnswer("recall", given);
  const items = found.data?.items ?? [];
  const at = items.findIndex((one) => one.item.id === route.given.item);
  const open = (place) => items[place] && go("search", { ...route.given, item: items[place].item.id });
  useKeys({ j: () => open(at + 1), k: () => open(Math.max(0, at - 1)), ArrowDown: () => open(at + 1), ArrowUp: () => open(Math.max(0, at - 1)), Enter: (event) => (pressedOn(event) ? false : open(Math.max(0, at))) });
  return html`<section class="screen" aria-label=${t("search")}>
    <div class="head">
      <label class="searchbox"><${Icon} name="search" /><input ref=${box} type="text" value=${typed} placeholder=${t("search.ask")} aria-label=${t("search.ask")} dir="auto"
        onInput=${(event) => change(event.currentTarget.value)} onKeyDown=${(event) => { if (event.key === "Enter" || event.key === "ArrowDown") { event.currentTarget.blur(); } }} /><kbd>/</kbd></label>
      <select aria-label=${t("search.most")} title=${t("search.most")} value=${k} onChange=${(event) => go("search", { ...route.given, k: event.currentTarget.value })}>${["5", "10", "20", "50"].map((n) => html`<option value=${n}>${n}</option>`)}</select>
      <input type="text" size="13" placeholder=${t("search.as_of")} aria-label=${t("search.as_of")} title=${t("search.as_of.hint")} value=${as_of} onChange=${(event) => go("search", { ...route.given, as_of: event.currentTarget.value.trim() })} />
    </div>
    <div class="scroll">
      ${!q && html`<${Empty} title=${t("search.empty")}>${t("search.empty.how")}</${Empty}>`}
      <${Trouble} problem=${found.problem} retry=${found.again} />
      ${found.data && html`<${Results} context=${found.data} route=${route} q=${q} k=${k} as_of=${as_of} />`}
    </div>
  </section>`;
}

function Results({ context, route, q, k, as_of }) {
  const names = [...new Set(context.items.flatMap((one) => Object.keys(one.components)))];
  const most = Math.max(...context.items.map((one) => one.score), 1e-9);
  const answer = useAnswer("ask", { query: q, ...(as_of ? { as_of } : {}) }).data;
  const likely = answer?.known && answer.confidence >= LIKELY;
  const notes = context.notes.filter((note) => !(likely && note.startsWith("probably not in memory")));
  return html`<div class="split">
    <div class="cards">
      <${Answer} data=${answer} route=${route} />
      ${context.items.map((one) => html`<${Hit} one=${one} names=${names} most=${most} route=${route} key=${one.item.id} />`)}
      ${context.items.length === 0 && html`<${Empty} title=${t("search.nothing")}>${t("search.nothing.how")}</${Empty}>`}
      <${WhyNot} q=${q} k=${k} as_of=${as_of} shown=${context.items.map((one) => one.item.id)} />
    </div>
    <aside class="cards"><${Explained} context=${{ ...context, notes }} names=${names} /></aside>
  </div>`;
}

function Hit({ one, names, most, route }) {
  const { item } = one;
  const whole = Object.values(one.components).reduce((sum, value) => sum + Math.max(0, value), 0) || 1;
  const open = () => go("search", { ...route.given, item: item.id });
  return html`<article class=${`card hit ${route.given.item === item.id ? "chosen" : ""}`} tabindex="0" onClick=${open} onKeyDown=${(event) => event.key === "Enter" && open()}>
    <div class="line"><span class="rank">${one.rank}</span><${Kind} kind=${item.kind} />${item.speaker && html`<bdi>${item.speaker}</bdi>`}<${When} at=${item.said} />
      ${item.pinned && html`<${Icon} name="pin" size="14" />`}${item.session && html`<${Chip}><bdi>${item.session}</bdi></${Chip}>`}<span style=${{ marginLeft: "auto" }}>${number(one.score, 3)}</span></div>
    <div class="text" dir="auto">${item.text}</div>
    <div class="parts" style=${{ width: `${Math.max(4, (one.score / most) * 100)}%` }} aria-hidden="true">${Object.entries(one.components).filter(([, value]) => value > 0).map(([name, value]) => html`<i class=${`c${names.indexOf(name) % 9}`} title=${`${tagged("arm", name)} ${number(value, 4)}`} style=${{ width: `${(value / whole) * 100}%` }}></i>`)}</div>
    ${one.reasons.length > 0 && html`<div class="because" dir="auto">${one.reasons.map(said).join(" · ")}</div>`}
  </article>`;
}

function Answer({ data, route }) {
  if (!data?.known) return null;
  return html`<article class="card answer"><h3>${t("answer")} · ${t("sure", { share: number(data.confidence * 100) })}</h3>
    ${data.short && html`<div class="quote" dir="auto">${data.short}</div>`}
    ${data.citations.map((one) => html`<blockquote key=${one.id}><span dir="auto">${one.quote}</span> <button class="link" onClick=${() => go("search", { ...route.given, item: one.id })}>${t("source")}</button></blockquote>`)}</article>`;
}

function Explained({ context, names }) {
  const most = Math.max(...context.stages.map((stage) => Math.max(stage.in, stage.out)), 1);
  const wide = (value) => `${(Math.log1p(value) / Math.log1p(most)) * 100}%`;
  return html`
    <div class="card"><h3>${t("confidence")}</h3><div class="line"><b style=${{ fontSize: "18px" }}>${number(context.confidence * 100)}%</b>${t("confidence.how")}</div>
      <div class="meter"><i style=${{ width: `${context.confidence * 100}%` }}></i></div>
      <p class="faint">${t("search.took", { ms: number(context.milliseconds, 1), considered: number(context.considered), tokens: number(context.tokens) })}</p>
      ${context.pending > 0 && html`<${Chip} tone="warn">${t("pending", { count: number(context.pending) })}</${Chip}>`}</div>
    <div class="card"><h3>${t("stages")}</h3><div class="funnel">${context.stages.map((stage) => html`<div title=${`${stage.in} → ${stage.out}`}><b>${tagged("stage", stage.stage)}</b><span class="bar"><i style=${{ width: wide(stage.out) }}></i></span><span>${stage.in === stage.out ? number(stage.out) : `${number(stage.in)} → ${number(stage.out)}`}</span></div>`)}</div></div>
    ${names.length > 0 && html`<div class="card"><h3>${t("components")}</h3><div class="legend">${names.map((name, place) => html`<span><i class=${`c${place % 9}`}></i>${tagged("arm", name)}</span>`)}</div></div>`}
    ${context.notes.length > 0 && html`<div class="card"><h3>${t("understood")}</h3><ul class="reasons">${context.notes.map((note) => html`<li dir="auto">${said(note)}</li>`)}</ul></div>`}`;
}

function WhyNot({ q, k, as_of, shown }) {
  const [typed, setTyped] = useState("");
  const [found, setFound] = useState(null);
  const [told, setTold] = useState(null);
  const [problem, setProblem] = useState(null);
  const past = as_of ? { as_of } : {};
  const why = async (item) => setTold({ item, ...(await ask("why_not", { query: q, k: Number(k), id: item.id, ...past })) });
  const look = async (event) => {
    event.preventDefault();
    setProblem(null); setTold(null); setFound(null);
    try {
      const words = typed.trim();
      const ids = /^[0-9a-zA-Z]{4,26}$/.test(words) ? (await ask("find_ids", { typed: words.toLowerCase(), limit: 6 })).ids : [];
      if (ids.length === 1) return await why(await ask("get", { id: ids[0] }));
      const near = (await ask("recall", { query: words, k: 30, ...past })).items.map((one) => one.item);
      setFound(near.filter((item) => !shown.includes(item.id)).slice(0, 6));
    } catch (error) { setProblem(error); }
  };
  return html`<div class="card" id="why-not"><h3>${t("why_not")}</h3><form class="line" onSubmit=${look}>
      <input type="text" style=${{ flex: 1 }} value=${typed} placeholder=${t("why_not.ask")} aria-label=${t("why_not.ask")} dir="auto" onInput=${(event) => setTyped(event.currentTarget.value)} /><button disabled=${!typed.trim()}>${t("why_not.look")}</button></form>
    <${Trouble} problem=${problem} />
    ${found && found.length === 0 && html`<p class="note">${t("why_not.none")}</p>`}
    ${told && html`<div style=${{ marginTop: "10px" }}><p dir="auto"><b>${told.item.text.slice(0, 200)}</b></p><p>${told.lost ? html`<${Chip} tone="warn">${tagged("stage", told.stage)}</${Chip}> ${said(told.reason)}` : html`<${Chip} tone="good">${t("why_not.there")}</${Chip}> ${said(told.reason)}`}</p></div>`}
    ${found && html`<div class="cards" style=${{ marginTop: "8px" }}>${found.map((item) => html`<button onClick=${() => why(item).catch(setProblem)} style=${{ whiteSpace: "normal", textAlign: "left" }}><${Kind} kind=${item.kind} /><span dir="auto">${item.text.slice(0, 140)}</span></button>`)}</div>`}
  </div>`;
}
