// Review: facts in doubt, what memory believes and from what, and what was set aside.
import { html, useState } from "../vendor/htm-preact.js";
import { mayCare, mayWrite } from "../api.js";
import { Chip, Empty, More, Trouble, When, number, toast, undo, useAnswer, useDoing, useListing } from "../parts.js";
import { go } from "../route.js";
import { said } from "../server_words.js";
import { t } from "../words.js";

const VIEWS = ["review", "profile", "quarantine"];

export default function Review({ route, commits }) {
  const view = route.given.view ?? "review";
  const shown = VIEWS.filter((one) => one !== "quarantine" || mayCare());
  return html`<section class="screen" aria-label=${t("review")}>
    <div class="head"><h1>${t("review")}</h1><span class="grow"></span><div class="tabs" role="tablist">${shown.map((one) => html`<button role="tab" aria-selected=${one === view} onClick=${() => go("review", { view: one })}>${t(one === "review" ? "review.tab" : one)}</button>`)}</div></div>
    <div class="scroll">${view === "review" ? html`<${Doubts} route=${route} commits=${commits} />` : view === "profile" ? html`<${Beliefs} route=${route} commits=${commits} />` : html`<${SetAside} route=${route} commits=${commits} />`}</div>
  </section>`;
}

function Doubts({ route, commits }) {
  const { data, problem, again } = useAnswer("review", {}, [commits]);
  if (problem) return html`<${Trouble} problem=${problem} retry=${again} />`;
  if (data?.doubts.length === 0) return html`<${Empty} title=${t("review.empty")}>${t("review.empty.how")}</${Empty}>`;
  return html`<div class="cards">${data?.doubts.map((one) => html`<${Doubt} one=${one} route=${route} again=${again} key=${one.fact.id} />`)}</div>`;
}

function Doubt({ one, route, again }) {
  const [value, setValue] = useState(null);
  const doing = useDoing();
  const settle = (given) => doing.run("settle", { id: one.fact.id, ...given }, (receipt) => { toast(t("settled"), { name: t("undo"), run: () => undo(receipt.seq).then(again) }); again(); });
  return html`<article class="card doubt"><div class="sides">
      <div class="side"><h3>${t("review.believed")} · ${t("since")} <${When} at=${one.fact.valid_from ?? one.fact.said} clock=${false} /></h3><button class="said" onClick=${() => go("review", { ...route.given, item: one.fact.id })}><span dir="auto">${one.fact.text}</span></button></div>
      <div class="side"><h3>${t("review.later")} · <${When} at=${one.newer.said} clock=${false} /></h3><button class="said" onClick=${() => go("review", { ...route.given, item: one.newer.id })}><span dir="auto">${one.sentence}</span></button></div></div>
    <p class="note" dir="auto">${said(one.reason)}</p><${Trouble} problem=${doing.problem} />
    ${mayWrite() && html`<div class="actions"><button disabled=${doing.busy} onClick=${() => settle({ keep: true })}>${t("review.keep")}</button><button disabled=${doing.busy} onClick=${() => settle({ ended: true })}>${t("review.ended")}</button><button onClick=${() => setValue("")}>${t("review.instead")}</button></div>`}
    ${value !== null && html`<form class="line" style=${{ marginTop: "8px" }} onSubmit=${(event) => { event.preventDefault(); settle({ value }); }}><input type="text" autofocus style=${{ flex: 1 }} dir="auto" aria-label=${t("review.instead")} value=${value} onInput=${(event) => setValue(event.currentTarget.value)} /><button class="main-action" disabled=${!value.trim()}>${t("save")}</button></form>`}
  </article>`;
}

function Beliefs({ route, commits }) {
  const { data, problem, again } = useAnswer("profile", { history: true }, [commits]);
  if (problem) return html`<${Trouble} problem=${problem} retry=${again} />`;
  if (data?.beliefs.length === 0) return html`<${Empty} title=${t("profile")}>${t("profile.empty")}</${Empty}>`;
  return html`<div class="cards">${data?.beliefs.map((one) => html`<article class=${`card hit ${one.ended ? "ended" : ""}`} key=${one.ids[0]} onClick=${() => go("review", { ...route.given, item: one.ids[0] })}>
    <div class="text" dir="auto">${one.text}</div><div class="line"><span>${t("since")} <${When} at=${one.since} clock=${false} />${one.until && html` – <${When} at=${one.until} clock=${false} />`}</span>${one.by.filter(Boolean).map((by) => html`<${Chip}><bdi>${by}</bdi></${Chip}>`)}${one.doubt && html`<${Chip} tone="warn">${t("review.tab")}</${Chip}>`}</div>
    ${one.evidence.map((source) => html`<div class="because" dir="auto">“${source.text.slice(0, 240)}”</div>`)}
    ${one.former.map((old) => html`<div class="because ended"><span class="text" dir="auto">${old.text}</span></div>`)}</article>`)}</div>`;
}

function SetAside({ route, commits }) {
  const dead = useListing("dead", "entries", {}, [commits]);
  const { rows, problem, busy, again } = dead;
  const doing = useDoing();
  if (problem) return html`<${Trouble} problem=${problem} retry=${again} />`;
  return html`<p class="note">${t("quarantine.how")}</p>${rows.length === 0 && !busy && html`<${Empty} title=${t("quarantine.empty")}></${Empty}>`}
    <${Trouble} problem=${doing.problem} /><div class="cards">${rows.map((one) => html`<article class="card"><div class="line"><b>${one.name}</b><bdi>${one.user}</bdi><${When} at=${one.at} /><span>${t("attempts")} ${number(one.attempts)}</span>${one.item && html`<button class="link" onClick=${() => go("review", { ...route.given, item: one.item })}><code>${one.item.slice(-8)}</code></button>`}</div>
      <p class="note" dir="auto">${one.error}</p>${one.id !== null && html`<button disabled=${doing.busy} onClick=${() => doing.run("retry", { id: one.id }, () => { toast(t("ordered")); again(); })}>${t("retry")}</button>`}</article>`)}</div><${More} of=${dead} />`;
}
