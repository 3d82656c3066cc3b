// Holds: what nobody may delete, by whose word and why; set and released by whoever administers.
import { html, useState } from "../vendor/htm-preact.js";
import { who } from "../api.js";
import { Dialog, Empty, Icon, More, Trouble, When, useDoing, useListing } from "../parts.js";
import { go } from "../route.js";
import { t } from "../words.js";

const PARTS = ["user", "item", "session", "shared", "whole"];

export default function Holds({ commits }) {
  const listed = useListing("holds", "holds", {}, [commits]);
  const { rows, problem, busy, again } = listed;
  const [making, setMaking] = useState(false);
  const [leaving, setLeaving] = useState(null);
  const doing = useDoing();
  return html`<section class="screen" aria-label=${t("holds")}><div class="head"><h1>${t("holds")}</h1><span class="grow"></span>${!who.read_only && html`<button class="main-action" onClick=${() => setMaking(true)}><${Icon} name="plus" size="16" />${t("holds.new")}</button>`}</div>
    <div class="scroll"><p class="note">${t("holds.how")}</p><${Trouble} problem=${problem} retry=${again} />
      ${rows.length === 0 && !busy && !problem && html`<${Empty} title=${t("holds.none")}>${t("holds.none.how")}</${Empty}>`}
      <div class="cards">${rows.map((one) => html`<article class="card" key=${one.id}><div class="line"><span>#${one.id}</span><span><${What} one=${one} /></span><span>${t("holds.by")} <bdi>${one.actor}</bdi></span><${When} at=${one.at} /></div><p dir="auto">${one.reason}</p>
        ${!who.read_only && html`<div class="actions"><button class="danger" onClick=${() => setLeaving(one)}>${t("holds.release")}</button></div>`}</article>`)}</div>
      <${More} of=${listed} />
    </div>
    ${making && html`<${Making} onClose=${() => { setMaking(false); again(); }} />`}
    ${leaving && html`<${Dialog} title=${t("holds.release")} onClose=${() => setLeaving(null)}><p><${What} one=${leaving} /></p><p dir="auto">${leaving.reason}</p><p>${t("holds.release.sure")}</p><${Trouble} problem=${doing.problem} /><div class="actions"><button onClick=${() => setLeaving(null)}>${t("cancel")}</button>
      <button class="danger sure" disabled=${doing.busy} onClick=${() => doing.run("release_hold", { hold: leaving.id }, () => { setLeaving(null); again(); })}>${t("holds.release")}</button></div></${Dialog}>`}
  </section>`;
}

/** What a hold is on; an item of whom is looked at leads to it. */
function What({ one }) {
  const mine = one.user === who.user;
  if (one.item) return html`${mine ? html`<button class="link" onClick=${() => go("holds", { item: one.item })}><code>${one.item}</code></button>` : html`<code>${one.item}</code>`} <bdi>${one.user}</bdi>`;
  if (one.session) return html`${t("session")} <b dir="auto">${one.session}</b> <bdi>${one.user}</bdi>`;
  return html`<span dir="auto">${one.shared ? t("holds.shared") : one.user === null ? t("holds.whole") : t("holds.user", { user: one.user })}</span>`;
}

function Making({ onClose }) {
  const [part, setPart] = useState("user");
  const [name, setName] = useState("");
  const [reason, setReason] = useState("");
  const doing = useDoing();
  const parts = PARTS.filter((one) => who.user !== null || one === "shared" || one === "whole");
  const named = part === "item" || part === "session";
  const given = { ...(part === "shared" || part === "whole" ? { [part]: true } : { user: who.user }), ...(named ? { [part]: name.trim() } : {}), ...(reason.trim() ? { reason: reason.trim() } : {}) };
  const set = (event) => { event.preventDefault(); if (!named || name.trim()) doing.run("hold", given, onClose); };
  return html`<${Dialog} title=${t("holds.new")} onClose=${onClose}><form class="cards" onSubmit=${set}>
    <label class="field">${t("holds.what")}<select autofocus value=${part} onChange=${(event) => setPart(event.currentTarget.value)}>${parts.map((one) => html`<option value=${one}>${t(`holds.${one}`, { user: who.user })}</option>`)}</select></label>
    ${named && html`<label class="field">${t(part === "item" ? "id" : "session")}<input type="text" dir="auto" value=${name} onInput=${(event) => setName(event.currentTarget.value)} /></label>`}
    <label class="field">${t("holds.reason")}<input type="text" dir="auto" value=${reason} onInput=${(event) => setReason(event.currentTarget.value)} /></label>
    <${Trouble} problem=${doing.problem} /><div class="actions"><button type="button" onClick=${onClose}>${t("cancel")}</button><button class="main-action" disabled=${doing.busy || (named && !name.trim())}>${t("holds.set")}</button></div></form></${Dialog}>`;
}
