// Branches: where one tries out what would be; made, looked at, merged into what they come off, dropped.
import { html, useState } from "../vendor/htm-preact.js";
import { mayWrite } from "../api.js";
import { Chip, Dialog, Empty, Icon, More, Trouble, number, toast, undo, useAnswer, useDoing, useListing } from "../parts.js";
import { go } from "../route.js";
import { t } from "../words.js";

export default function Branches({ commits }) {
  const listed = useListing("branches", "branches", {}, [commits]);
  const { rows, problem, busy, again } = listed;
  const [open, setOpen] = useState(null);
  const close = () => { setOpen(null); again(); };
  return html`<section class="screen" aria-label=${t("branches")}><div class="head"><h1>${t("branches")}</h1><span class="grow"></span>${mayWrite() && html`<button class="main-action" onClick=${() => setOpen({ how: "make" })}><${Icon} name="plus" size="16" />${t("branches.new")}</button>`}</div>
    <div class="scroll"><p class="note">${t("branches.how")}</p><${Trouble} problem=${problem} retry=${again} />
      ${rows.length === 0 && !busy && !problem && html`<${Empty} title=${t("branches.none")}>${t("branches.none.how")}</${Empty}>`}
      <div class="cards">${rows.map((one) => html`<article class="card" key=${one.name}><div class="line"><b dir="auto">${one.name}</b><span>${t("branches.of")} <bdi>${one.of ?? t("branches.main")}</bdi></span><a href=${`#/timeline?then=${one.base}`}>${t("commit", { seq: one.base })}</a><span>${t("branches.latest")} ${t("commit", { seq: one.seq })}</span>${one.understood && html`<${Chip}>${t("branches.understood")}</${Chip}>`}</div>
        <div class="actions" style=${{ marginTop: "8px" }}><button onClick=${() => go("browse", { branch: one.name })}>${t("browse")}</button>${mayWrite() && html`<button onClick=${() => setOpen({ how: "merge", one })}>${t("branches.merge")}</button><button class="danger" onClick=${() => setOpen({ how: "drop", one })}>${t("branches.drop")}</button>`}</div></article>`)}</div>
      <${More} of=${listed} />
    </div>
    ${open?.how === "make" && html`<${Making} onClose=${close} />`}${open?.how === "merge" && html`<${Merging} one=${open.one} onClose=${close} />`}${open?.how === "drop" && html`<${Dropping} one=${open.one} onClose=${close} />`}
  </section>`;
}

/** The branch that it comes off, where that is none of the memory's own line. */
const upon = (one) => (one.of ? { branch: one.of } : {});

function Making({ onClose }) {
  const [name, setName] = useState("");
  const [understand, setUnderstand] = useState(false);
  const doing = useDoing();
  const make = (event) => { event.preventDefault(); if (name.trim()) doing.run("branch", { name: name.trim(), ...(understand ? { understand } : {}) }, onClose); };
  return html`<${Dialog} title=${t("branches.new")} onClose=${onClose}><form class="cards" onSubmit=${make}><label class="field">${t("name")}<input type="text" autofocus dir="auto" value=${name} onInput=${(event) => setName(event.currentTarget.value)} /></label>
    <label><input type="checkbox" checked=${understand} onChange=${(event) => setUnderstand(event.currentTarget.checked)} /> ${t("branches.understood")}</label>
    <${Trouble} problem=${doing.problem} /><div class="actions"><button type="button" onClick=${onClose}>${t("cancel")}</button><button class="main-action" disabled=${!name.trim() || doing.busy}>${t("create")}</button></div></form></${Dialog}>`;
}

function Merging({ one, onClose }) {
  const [prefer, setPrefer] = useState("");
  const would = useAnswer("merge", { name: one.name, dry_run: true, ...upon(one), ...(prefer ? { prefer } : {}) });
  const doing = useDoing();
  const clashes = would.data?.conflicts ?? [];
  const nothing = would.data && would.data.ids.length === 0 && would.data.links === 0 && clashes.length === 0;
  const merge = () => doing.run("merge", { name: one.name, ...upon(one), ...(prefer ? { prefer } : {}) }, (merged) => { toast(t("branches.merged"), merged.seq === null ? null : { name: t("undo"), run: () => undo(merged.seq) }); onClose(); });
  return html`<${Dialog} title=${`${t("branches.merge")} · ${one.name}`} onClose=${onClose} wide=${clashes.length > 0}><${Trouble} problem=${would.problem ?? doing.problem} />
    ${would.data && html`<p>${nothing ? t("branches.merge.nothing") : t("branches.merge.would", { items: number(would.data.ids.length), links: number(would.data.links) })}</p>`}
    ${clashes.length > 0 && html`<p>${t("branches.clash")}</p><div class="cards">${clashes.map((clash) => html`<div class="sides" key=${clash.id}>${["branch", "parent"].map((side) => html`<div class="side"><h3>${t(`branches.prefer.${side}`)}</h3><div dir="auto">${clash[side] === null ? t("state.retired") : clash[side].text ?? clash[side].type}</div></div>`)}</div>`)}</div>
      <div class="tabs" role="tablist">${["branch", "parent"].map((side) => html`<button role="tab" aria-selected=${prefer === side} onClick=${() => setPrefer(side)}>${t(`branches.prefer.${side}`)}</button>`)}</div>`}
    <div class="actions"><button onClick=${onClose}>${t("cancel")}</button><button class="main-action" disabled=${!would.data || nothing || doing.busy || (clashes.length > 0 && !prefer)} onClick=${merge}>${t("branches.merge")}</button></div></${Dialog}>`;
}

function Dropping({ one, onClose }) {
  const doing = useDoing();
  return html`<${Dialog} title=${t("branches.drop")} onClose=${onClose}><p dir="auto"><${Chip}><bdi>${one.name}</bdi></${Chip}></p><p>${t("branches.drop.sure")}</p><${Trouble} problem=${doing.problem} />
    <div class="actions"><button onClick=${onClose}>${t("cancel")}</button><button class="danger sure" disabled=${doing.busy} onClick=${() => doing.run("drop_branch", { name: one.name, ...upon(one) }, () => { toast(t("branches.dropped")); onClose(); })}>${t("branches.drop")}</button></div></${Dialog}>`;
}
