// One item: its words, where it comes from, its versions, links and uses; and what can be done with it.
import { html, useState } from "../vendor/htm-preact.js";
import { mayWrite } from "../api.js";
import { Chip, Dialog, Icon, Kind, Trouble, When, number, tagsOf, toast, undo, useAnswer, useDoing } from "../parts.js";
import { go } from "../route.js";
import { titleOf } from "../server_words.js";
import { t, tagged } from "../words.js";

const EVIDENCE = ["turn", "document", "chunk"];

/** The branch on which an item is looked at, for every operation on it. */
const onBranch = (route) => (route.given.branch ? { branch: route.given.branch } : {});

/** The version of an item that stood after a commit, else its latest, also of what is superseded or forgotten, which `get` hides; a history tells of what took its place as well. */
function versionAt(versions, id, seq) {
  const own = versions.filter((one) => one.id === id);
  return own.findLast((one) => !seq || one.seq_from <= seq) ?? own[0];
}

export function ItemPanel({ id, route, commits }) {
  const on = onBranch(route);
  const [erasing, setErasing] = useState(null);
  const [receipt, setReceipt] = useState(null);
  const past = useAnswer("history", receipt ? null : { id, ...on }, [commits]);
  const item = { ...past, data: past.data && versionAt(past.data.versions, id, Number(route.given.then)) };
  const close = () => go(route.screen, { ...route.given, item: null }, true);
  return html`<aside class="panel" aria-label=${t("item")}>
    <header><button class="plain" aria-label=${t("close")} title=${`${t("close")} (Esc)`} onClick=${close}><${Icon} name="close" /></button>${item.data && html`<${Kind} kind=${item.data.kind} />`}
      ${item.data?.pinned && html`<${Chip} tone="good">${t("pinned")}</${Chip}>`}${item.data && item.data.state !== "active" && html`<${Chip} tone="warn">${t(`state.${item.data.state}`)}</${Chip}>`}
      <span style=${{ flex: 1 }}></span><code class="faint" title=${id}>${id.slice(-8)}</code></header>
    <${Trouble} problem=${item.problem} retry=${item.again} />
    ${item.data && html`<${Whole} item=${item.data} versions=${past.data.versions} route=${route} commits=${commits} close=${close} erase=${() => setErasing(item.data)} />`}
    ${erasing && html`<${Erasing} item=${erasing} on=${on} receipt=${receipt} onErased=${setReceipt} onClose=${() => { setErasing(null); if (receipt) close(); }} />`}
  </aside>`;
}

function Whole({ item, versions, route, commits, close, erase }) {
  const [open, setOpen] = useState("");
  const doing = useDoing();
  const on = onBranch(route);
  const tags = tagsOf(item);
  const done = (word) => (receipt) => toast(t(word), { name: t("undo"), run: () => undo(receipt.seq, on) });
  const statement = !EVIDENCE.includes(item.kind);
  const slots = Object.entries(item.slots).filter(([name]) => name !== "speaker" && name !== "role");
  return html`
    <div class="whole" dir="auto">${item.text}</div>
    ${mayWrite() && !route.given.then && html`<div class="actions">${item.state === "active" && html`
      <button onClick=${() => setOpen("edit")}>${t(statement ? "edit" : "correct")}</button>
      <button onClick=${() => doing.run(item.pinned ? "unpin" : "pin", { ids: [item.id], ...on }, done(item.pinned ? "unpinned" : "pinned"))}><${Icon} name="pin" size="15" />${t(item.pinned ? "unpin" : "pin")}</button>
      <button onClick=${() => doing.run("forget", { ids: [item.id], expect: item.seq_from, ...on }, (receipt) => { done("forgotten")(receipt); close(); })}>${t("forget")}</button>`}
      <button class="danger" onClick=${erase}>${t("erase")}</button></div>`}
    <${Trouble} problem=${doing.problem} />
    <dl class="facts">
      <dt>${t("said")}</dt><dd><${When} at=${item.said} />${item.speaker && html` · <bdi>${item.speaker}</bdi>`}</dd>
      ${(item.valid_from || item.valid_to) && html`<dt>${t("valid")}</dt><dd><${When} at=${item.valid_from} clock=${false} /> – ${item.valid_to ? html`<${When} at=${item.valid_to} clock=${false} />` : t("now")}</dd>`}
      ${item.known_to && html`<dt>${t("known_to")}</dt><dd><${When} at=${item.known_to} /></dd>`}
      ${item.expires && html`<dt>${t("expires")}</dt><dd><${When} at=${item.expires} /></dd>`}
      <dt>${t("channel")}</dt><dd>${t(`channel.${item.channel}`)}</dd>
      ${item.session && html`<dt>${t("session")}</dt><dd><bdi>${item.session}</bdi></dd>`}${item.agent && html`<dt>${t("agent")}</dt><dd><bdi>${item.agent}</bdi></dd>`}
      ${item.tags.length > 0 && html`<dt>${t("tags")}</dt><dd class="line">${tags.telling.map((tag) => html`<${Chip}><bdi>${tag}</bdi></${Chip}>`)}${tags.others > 0 && html`<span class="faint">${t("tags.lookup", { count: number(tags.others) })}</span>`}</dd>`}
      ${slots.map(([name, value]) => html`<dt dir="auto">${tagged("slot", name)}</dt><dd dir="auto">${typeof value === "string" ? value : JSON.stringify(value)}</dd>`)}
      <dt>${t("written")}</dt><dd><${When} at=${item.recorded} /> · <a href=${`#/timeline?then=${item.seq_from}`}>${t("commit", { seq: item.seq_from })}</a></dd>
      <dt>${t("id")}</dt><dd><code>${item.id}</code></dd>
    </dl>
    ${item.source.length > 0 && html`<section><h3>${t("rests_on")}</h3><div class="cards">${item.source.slice(0, 8).map((id) => html`<${Cited} id=${id} route=${route} key=${id} />`)}</div>${item.source.length > 8 && html`<p class="faint">${t("and_more", { count: item.source.length - 8 })}</p>`}</section>`}
    <${Uses} id=${item.id} on=${on} commits=${commits} />
    <${History} versions=${versions} />
    <${Links} id=${item.id} route=${route} commits=${commits} />
    ${route.screen !== "graph" && html`<a class="button" style=${{ justifySelf: "start", alignSelf: "start" }} href=${`#/graph?item=${item.id}`}><${Icon} name="graph" size="15" />${t("graph.from_here")}</a>`}
    ${open === "edit" && html`<${Editing} item=${item} on=${on} statement=${statement} onClose=${() => setOpen("")} done=${(receipt) => { setOpen(""); done("edited")(receipt); }} />`}`;
}

function Cited({ id, route }) {
  const { data: past, problem } = useAnswer("history", { id, ...onBranch(route) });
  if (problem) return html`<p class="faint">${id}: ${titleOf(problem)}</p>`;
  const data = past && versionAt(past.versions, id);
  return html`<button style=${{ whiteSpace: "normal", textAlign: "left", display: "block" }} onClick=${() => go(route.screen, { ...route.given, item: id })}>
    <span class="line">${data && html`<${Kind} kind=${data.kind} /><bdi>${data.speaker}</bdi><${When} at=${data.said} />${data.state !== "active" && html`<${Chip} tone="warn">${t(`state.${data.state}`)}</${Chip}>`}`}</span><span dir="auto">${data?.text.slice(0, 220) ?? "…"}</span></button>`;
}

function Uses({ id, on, commits }) {
  const { data } = useAnswer("strength", { id, ...on }, [commits]);
  const doing = useDoing();
  if (!data) return null;
  const say = (useful) => doing.run("feedback", { ids: [id], useful, ...on }, () => toast(t("thanks")));
  return html`<section><h3>${t("use")}</h3><div class="line"><span>${t("uses", { uses: number(data.uses), useful: number(data.useful), harms: number(data.harms) })}</span>
    ${mayWrite() && html`<button onClick=${() => say(true)}>${t("helped")}</button><button onClick=${() => say(false)}>${t("misled")}</button>`}</div><${Trouble} problem=${doing.problem} /></section>`;
}

function History({ versions }) {
  if (versions.length < 2) return null;
  return html`<section><h3>${t("history")}</h3><ol class="versions">${[...versions].reverse().map((one) => html`<li class=${one.seq_to === null && one.state === "active" ? "stands" : ""}>
    <div class="line"><a href=${`#/timeline?then=${one.seq_from}`}>${t("commit", { seq: one.seq_from })}</a><${When} at=${one.recorded} />${one.state !== "active" && html`<${Chip} tone="warn">${t(`state.${one.state}`)}</${Chip}>`}${one.pinned && html`<${Icon} name="pin" size="13" />`}</div><div class="text" dir="auto">${one.text}</div></li>`)}</ol></section>`;
}

function Links({ id, route, commits }) {
  const { data } = useAnswer("links", { id, ...onBranch(route) }, [commits]);
  if (!data || data.links.length === 0) return null;
  return html`<section><h3>${t("links")}</h3><div class="cards">${data.links.slice(0, 12).map((link) => {
    const other = link.src === id ? link.dst : link.src;
    return html`<div><div class="line"><span>${link.src === id ? "→" : "←"}</span><b dir="auto">${link.type}</b><span>${number(link.weight, 2)}</span></div><${Cited} id=${other} route=${route} /></div>`;
  })}</div></section>`;
}

function Editing({ item, on, statement, onClose, done }) {
  const [text, setText] = useState(item.text);
  const [how, setHow] = useState(statement ? "revise" : "correct");
  const doing = useDoing();
  return html`<${Dialog} title=${t(statement ? "edit" : "correct")} onClose=${onClose}>
    ${statement && html`<div class="tabs" role="tablist">${["revise", "supersede"].map((one) => html`<button role="tab" aria-selected=${how === one} onClick=${() => setHow(one)}>${t(`how.${one}`)}</button>`)}</div>`}
    <p class="note">${t(`how.${how}.note`)}</p>
    <textarea dir="auto" aria-label=${t("text")} value=${text} onInput=${(event) => setText(event.currentTarget.value)}></textarea>
    <${Trouble} problem=${doing.problem} />
    <div class="actions"><button onClick=${onClose}>${t("cancel")}</button><button class="main-action" disabled=${doing.busy || !text.trim() || text === item.text} onClick=${() => doing.run(how, { id: item.id, text, expect: item.seq_from, ...on }, done)}>${t("save")}</button></div>
  </${Dialog}>`;
}

function Erasing({ item, on, receipt, onErased, onClose }) {
  const [reason, setReason] = useState("");
  const doing = useDoing();
  return html`<${Dialog} title=${t(receipt ? "receipt" : "erase")} onClose=${onClose} wide=${Boolean(receipt)}>
    ${receipt ? html`<${Receipt} receipt=${receipt} /><div class="actions"><button class="main-action" onClick=${onClose}>${t("close")}</button></div>` : html`
    <p>${t("erase.sure")}</p><div class="card" dir="auto">${item.text.slice(0, 300)}</div>
    <label class="field">${t("erase.reason")}<input type="text" value=${reason} onInput=${(event) => setReason(event.currentTarget.value)} /></label>
    <${Trouble} problem=${doing.problem} />
    <div class="actions"><button onClick=${onClose}>${t("cancel")}</button><button class="danger sure" disabled=${doing.busy} onClick=${() => doing.run("erase", { ids: [item.id], ...on, ...(reason ? { reason } : {}) }, onErased)}>${t("erase.do")}</button></div>`}
  </${Dialog}>`;
}

/** What an erasure did, and where copies may lie that nobody reaches from here. */
export function Receipt({ receipt }) {
  const files = (name, paths) => paths.length > 0 && html`<section><h3>${t(name)}</h3><ul class="reasons">${paths.map((path) => html`<li dir="auto">${path}</li>`)}</ul></section>`;
  return html`<div class="line"><${Chip} tone=${receipt.status === "clean" ? "good" : "warn"}>${t(`erased.${receipt.status}`)}</${Chip}>${receipt.seq !== null && html`<span>${t("commit", { seq: receipt.seq })}</span>`}</div>
    <p>${t("erased.counts", { items: number(receipt.ids.length), versions: number(receipt.versions), links: number(receipt.links) })}</p>
    ${files("erased.scanned", receipt.scanned)}${files("erased.left", receipt.left)}${files("erased.outside", receipt.outside)}`;
}
