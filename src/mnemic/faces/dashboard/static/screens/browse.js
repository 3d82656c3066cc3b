// Browse: every item, newest first, in a list that draws only what is seen; and a way to write a new one.
import { html, useCallback, useEffect, useState } from "../vendor/htm-preact.js";
import { ask, mayWrite } from "../api.js";
import { Chip, Dialog, Empty, Icon, Kind, Trouble, VirtualList, When, number, tagsOf, toast, undo, useDoing, usePages } from "../parts.js";
import { go } from "../route.js";
import { t } from "../words.js";

const KINDS = ["turn", "fact", "profile", "procedure", "insight", "summary", "episode", "entity", "document", "chunk", "resource", "plan"];
const PAGE = 200;

export function Browse({ route, commits }) {
  const { kind = "", state = "", tag = "", branch = "" } = route.given;
  const on = branch ? { branch } : {};
  const [count, setCount] = useState(null);
  const [adding, setAdding] = useState(false);
  const where = { ...(kind ? { kinds: [kind] } : {}), ...(state ? { states: [state] } : {}), ...(tag ? { tags: [tag] } : {}) };
  const filter = { ...(Object.keys(where).length ? { where } : {}), ...on };
  const page = useCallback(async (after) => {
    const found = await ask("list", { ...filter, limit: after === undefined ? 60 : PAGE, ...(after === undefined ? {} : { after }) });
    return { rows: found.items, next: found.next };
  }, [kind, state, tag, branch]);
  const { rows, next, problem, busy, more, again } = usePages(page, [page]);
  const [seen, setSeen] = useState(commits);
  useEffect(() => { ask("count", filter).then((told) => setCount(told.count), () => setCount(null)); }, [kind, state, tag, branch, commits]);
  useEffect(() => { if (commits !== seen && !document.querySelector(".list")?.scrollTop) { setSeen(commits); again(); } }, [commits, seen, again]);
  const set = (name) => (event) => go("browse", { ...route.given, [name]: event.currentTarget.value, item: null });
  return html`<section class="screen" aria-label=${t("browse")}>
    <div class="head"><h1>${t("browse")}</h1><span class="faint">${count === null ? "" : t("items", { count: number(count) })}</span><span class="grow"></span>
      ${branch && html`<span class="line">${t("browse.branch")} <${Chip} tone="warn"><bdi>${branch}</bdi></${Chip}><button onClick=${() => go("browse", { ...route.given, branch: null, item: null })}>${t("browse.leave")}</button></span>`}
      ${commits !== seen && html`<button onClick=${() => { setSeen(commits); again(); }}>${t("newer")}</button>`}
      <select aria-label=${t("kind")} value=${kind} onChange=${set("kind")}><option value="">${t("kind.all")}</option>${KINDS.map((one) => html`<option value=${one}>${t(`kind.${one}`)}</option>`)}</select>
      <select aria-label=${t("state")} value=${state} onChange=${set("state")}><option value="">${t("state.shown")}</option>${["active", "superseded", "retired"].map((one) => html`<option value=${one}>${t(`state.${one}`)}</option>`)}</select>
      ${mayWrite() && html`<button class="main-action" onClick=${() => setAdding(true)}><${Icon} name="plus" size="16" />${t("add")}</button>`}
    </div>
    ${problem && html`<div class="scroll"><${Trouble} problem=${problem} retry=${again} /></div>`}
    ${!problem && rows.length === 0 && !busy ? html`<${Empty} title=${t("browse.empty")}>${t("browse.empty.how")} <code>mnemic import ${t("path")}</code></${Empty}>` : null}
    ${rows.length > 0 && html`<${VirtualList} label=${t("browse")} rows=${rows} height=${62} keyOf=${(one) => one.id} selected=${route.given.item} more=${next ? more : null}
      onOpen=${(one) => go("browse", { ...route.given, item: one.id }, Boolean(route.given.item))} row=${(one) => html`<${Row} one=${one} />`} />`}
    ${adding && html`<${Adding} on=${on} onClose=${() => setAdding(false)} />`}
  </section>`;
}

export const Row = ({ one }) => html`<div class=${one.state === "active" && !one.known_to ? "" : "ended"}><div class="text" dir="auto">${one.text}</div></div>
  <div class="line"><${Kind} kind=${one.kind} />${one.pinned && html`<${Icon} name="pin" size="13" />`}${one.speaker && html`<bdi>${one.speaker}</bdi>`}<${When} at=${one.said} />
    ${one.state !== "active" && html`<${Chip} tone="warn">${t(`state.${one.state}`)}</${Chip}>`}${one.session && html`<${Chip}><bdi>${one.session}</bdi></${Chip}>`}${tagsOf(one).telling.slice(0, 3).map((tag) => html`<${Chip}><bdi>${tag}</bdi></${Chip}>`)}</div>`;

function Adding({ on, onClose }) {
  const [text, setText] = useState("");
  const [how, setHow] = useState("observe");
  const doing = useDoing();
  const write = () => doing.run(how, { ...(how === "observe" ? { messages: text } : { text }), ...on }, (receipt) => {
    const masked = Object.values(receipt.masked).reduce((sum, one) => sum + one, 0);
    toast(masked ? t("added.masked", { count: masked }) : t("added"), { name: t("undo"), run: () => undo(receipt.seq, on) });
    onClose();
  });
  return html`<${Dialog} title=${t("add")} onClose=${onClose}>
    <div class="tabs" role="tablist">${["observe", "write"].map((one) => html`<button role="tab" aria-selected=${how === one} onClick=${() => setHow(one)}>${t(`add.${one}`)}</button>`)}</div>
    <p class="note">${t(`add.${how}.how`)}</p>
    <textarea autofocus dir="auto" aria-label=${t("text")} value=${text} onInput=${(event) => setText(event.currentTarget.value)}></textarea>
    <${Trouble} problem=${doing.problem} />
    <div class="actions"><button onClick=${onClose}>${t("cancel")}</button><button class="main-action" disabled=${!text.trim() || doing.busy} onClick=${write}>${t("add")}</button></div>
  </${Dialog}>`;
}
