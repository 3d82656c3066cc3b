// Keys: who may ask from elsewhere; a new key's text is shown once.
import { html, useState } from "../vendor/htm-preact.js";
import { who } from "../api.js";
import { Chip, Dialog, Empty, Icon, Trouble, When, toast, useAnswer, useDoing } from "../parts.js";
import { t } from "../words.js";

export default function Keys() {
  const { data, problem, again } = useAnswer("keys", {});
  const [making, setMaking] = useState(false);
  const [leaving, setLeaving] = useState(null);
  const doing = useDoing();
  return html`<section class="screen" aria-label=${t("keys")}><div class="head"><h1>${t("keys")}</h1><span class="grow"></span>${!who.read_only && html`<button class="main-action" onClick=${() => setMaking(true)}><${Icon} name="plus" size="16" />${t("keys.new")}</button>`}</div>
    <div class="scroll"><p class="note">${t("keys.how")}</p><${Trouble} problem=${problem ?? doing.problem} retry=${again} />
      ${data?.keys.length === 0 && html`<${Empty} title=${t("keys.none")}>${t("keys.none.how")}</${Empty}>`}
      ${data?.keys.length > 0 && html`<div class="table"><table><thead><tr><th>${t("name")}</th><th>${t("user")}</th><th>${t("keys.right")}</th><th>${t("made")}</th><th>${t("keys.ends")}</th><th>${t("keys.used")}</th><th></th></tr></thead>
        <tbody>${data.keys.map((one) => html`<tr><td><b dir="auto">${one.name}</b> <code>${one.id}</code></td><td><bdi>${one.user ?? t("keys.any")}</bdi></td><td><${Chip}>${t(`right.${one.right}`)}</${Chip}></td><td><${When} at=${one.created} /></td><td>${one.expires ? html`<${When} at=${one.expires} />` : t("keys.never")}</td><td>${one.last_used ? html`<${When} at=${one.last_used} />` : t("keys.never")}</td>
          <td>${one.revoked ? html`<${Chip} tone="danger">${t("keys.revoked")}</${Chip}>` : !who.read_only && html`<button class="danger" onClick=${() => setLeaving(one)}>${t("keys.revoke")}</button>`}</td></tr>`)}</tbody></table></div>`}
    </div>
    ${making && html`<${Making} onClose=${() => { setMaking(false); again(); }} />`}
    ${leaving && html`<${Dialog} title=${t("keys.revoke")} onClose=${() => setLeaving(null)}><p dir="auto"><b>${leaving.name}</b> <code>${leaving.id}</code></p><div class="actions"><button onClick=${() => setLeaving(null)}>${t("cancel")}</button>
      <button class="danger sure" disabled=${doing.busy} onClick=${() => doing.run("revoke_key", { id: leaving.id }, () => { setLeaving(null); again(); })}>${t("keys.revoke")}</button></div></${Dialog}>`}
  </section>`;
}

function Making({ onClose }) {
  const [given, setGiven] = useState({ name: "", user: who.user ?? "", right: "write", expires: "90 days" });
  const [anybody, setAnybody] = useState(false);
  const [made, setMade] = useState(null);
  const doing = useDoing();
  const set = (name) => (event) => setGiven({ ...given, [name]: event.currentTarget.value });
  const make = (event) => { event.preventDefault(); doing.run("create_key", { ...Object.fromEntries(Object.entries({ ...given, user: anybody ? "" : given.user }).map(([name, value]) => [name, value.trim()]).filter(([, value]) => value)), ...(anybody ? { any_user: true } : {}) }, setMade); };
  return html`<${Dialog} title=${t("keys.new")} onClose=${onClose}>${made ? html`<p>${t("keys.made")}</p><code class="secret">${made.text}</code>
    <div class="actions"><button onClick=${() => navigator.clipboard?.writeText(made.text).then(() => toast(t("copied")))}>${t("copy")}</button><button class="main-action" onClick=${onClose}>${t("close")}</button></div>` : html`<form class="cards" onSubmit=${make}>
    <label class="field">${t("keys.name")}<input type="text" autofocus value=${given.name} onInput=${set("name")} /></label>
    <label class="field">${t("keys.right")}<select value=${given.right} onChange=${set("right")}>${["read", "write", "admin"].map((one) => html`<option value=${one}>${t(`right.${one}`)}</option>`)}</select></label>
    <label class="field">${t("keys.user")}<input type="text" value=${given.user} disabled=${anybody} onInput=${set("user")} /></label>
    <label><input type="checkbox" checked=${anybody} onChange=${(event) => setAnybody(event.currentTarget.checked)} /> ${t("keys.anybody")}</label>
    <label class="field">${t("keys.expires")}<input type="text" value=${given.expires} onInput=${set("expires")} /></label>
    <${Trouble} problem=${doing.problem} /><div class="actions"><button type="button" onClick=${onClose}>${t("cancel")}</button><button class="main-action" disabled=${!given.name.trim() || !(anybody || given.user.trim()) || doing.busy}>${t("create")}</button></div></form>`}</${Dialog}>`;
}
