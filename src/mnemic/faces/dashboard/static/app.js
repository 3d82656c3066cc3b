// The frame: which screen is shown, for whose memory, in which language and light; the rest is in screens/.
import { html, render, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { ask, chooseUser, keep, mayCare, mayChooseUser, recallKept, signIn, signOut, who } from "./api.js";
import { listen, onCommit } from "./live.js";
import { Dialog, Empty, Icon, Toasts, Trouble, hush, number, useKeys } from "./parts.js";
import { here, go, onRoute } from "./route.js";
import { ItemPanel } from "./screens/item.js";
import { Browse } from "./screens/browse.js";
import { Search } from "./screens/search.js";
import { chooseLanguage, language, t } from "./words.js";

/** The screens in their order: the first two are here at once, others are loaded when they are opened. */
const SCREENS = [
  { name: "search", show: Search }, { name: "browse", show: Browse },
  { name: "timeline", load: () => import("./screens/timeline.js") }, { name: "graph", load: () => import("./screens/graph.js") },
  { name: "pulse", load: () => import("./screens/pulse.js"), care: true }, { name: "review", load: () => import("./screens/review.js") },
  { name: "work", load: () => import("./screens/work.js"), care: true }, { name: "cost", load: () => import("./screens/cost.js"), care: true },
  { name: "keys", load: () => import("./screens/keys.js"), care: true }, { name: "branches", load: () => import("./screens/branches.js") },
  { name: "holds", load: () => import("./screens/holds.js"), care: true },
];

function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}
const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function Screen({ screen, route, commits }) {
  const [show, setShow] = useState(() => screen.show ?? null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    setProblem(null);
    if (screen.show) return setShow(() => screen.show);
    setShow(null);
    let wanted = true;
    screen.load().then((module) => { screen.show = module.default; if (wanted) setShow(() => module.default); }, () => setProblem({ title: "unreachable" }));
    return () => { wanted = false; };
  }, [screen]);
  if (problem) return html`<div class="screen"><div class="scroll"><${Trouble} problem=${problem} /></div></div>`;
  return show === null || (screen.show && show !== screen.show) ? html`<div class="screen"></div>` : html`<${show} route=${route} commits=${commits} key=${`${screen.name} ${who.user}`} />`;
}

function Tools({ onHelp, onChange, users }) {
  const theme = () => { const next = dark() ? "light" : "dark"; applyTheme(next); keep("mnemic.theme", next); onChange(); document.dispatchEvent(new Event("theme")); };
  const choose = (event) => {
    const user = event.currentTarget.value.trim();
    if (user) { chooseUser(user); hush(); go(here().screen); listen(); }
    onChange();
  };
  return html`
    ${mayChooseUser() ? html`<label class="who">${t("memory.of")}
      ${users.more ? html`<input type="search" list="users" value=${who.user ?? ""} title=${t("users.more", { count: number(users.names.length) })} onChange=${choose} />
        <datalist id="users">${users.names.map((user) => html`<option value=${user} key=${user} />`)}</datalist><i class="faint">${t("users.more", { count: number(users.names.length) })}</i>` : html`<select value=${who.user ?? ""} onChange=${choose}>
        ${users.names.includes(who.user) || who.user === null ? null : html`<option value=${who.user}>${who.user}</option>`}
        ${users.names.map((user) => html`<option value=${user} key=${user}>${user}</option>`)}
      </select>`}</label>` : html`<div class="who">${who.name}<b>${who.user}</b></div>`}
    <div class="tools">
      <button class="plain" title=${t("theme")} aria-label=${t("theme")} onClick=${theme}><${Icon} name="moon" /></button>
      <button class="plain" title="English / 中文" aria-label="English / 中文" onClick=${() => { chooseLanguage(language() === "en" ? "zh" : "en"); onChange(); }}><${Icon} name="language" /></button>
      <button class="plain" title=${`${t("help")} (?)`} aria-label=${t("help")} onClick=${onHelp}><${Icon} name="help" /></button>
      ${who.signed_in && html`<button class="plain" onClick=${() => signOut().then(() => location.reload())}>${t("sign.out")}</button>`}
    </div>`;
}

const Help = ({ onClose }) => html`<${Dialog} title=${t("help")} onClose=${onClose}><div class="shortcuts">
  ${[["/", "key.search"], ["j k ↑ ↓", "key.move"], ["Home End", "key.ends"], ["g + s b t n e r f h w c k", "key.go"], ["Esc", "key.close"], ["?", "key.help"]].map(([keys, word]) =>
    html`<span>${keys.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</span><span>${t(word)}</span>`)}</div><p class="faint">mnemic ${who.version}</p></${Dialog}>`;

const JUMPS = { s: "search", b: "browse", t: "timeline", n: "graph", e: "pulse", r: "review", f: "branches", h: "holds", w: "work", c: "cost", k: "keys" };

function Frame() {
  const [, redraw] = useState(0);
  const [route, setRoute] = useState(here());
  const [open, setOpen] = useState("");
  const [link, setLink] = useState("live");
  const [commits, setCommits] = useState(0);
  const [users, setUsers] = useState({ names: [], more: false });
  const jumped = useRef(0);
  useEffect(() => onRoute(() => { setRoute(here()); setOpen(""); }), []);
  useEffect(() => onCommit((state) => (state === "commit" ? setCommits((n) => n + 1) : setLink(state))), []);
  useEffect(() => {
    listen();
    if (mayCare() && mayChooseUser()) ask("users", { limit: 1000, tenant: who.tenant }).then((page) => setUsers({ names: page.users.map((one) => one.user).filter((user) => user !== null), more: page.next !== null }), () => undefined);
  }, []);
  const jumps = Object.fromEntries(Object.entries(JUMPS).map(([key, screen]) => [key, () => {
    if (performance.now() - jumped.current > 1200) return false;
    jumped.current = 0;
    return go(screen);
  }]));
  useKeys({
    first: true, "/": () => { if (route.screen !== "search") go("search"); setTimeout(() => document.querySelector(".searchbox input")?.focus(), 0); },
    "?": () => setOpen("help"), g: () => { jumped.current = performance.now(); }, ...jumps,
    Escape: (event) => { if (event.target.blur && event.target !== document.body && /INPUT|TEXTAREA/.test(event.target.tagName)) event.target.blur(); else if (route.given.item) go(route.screen, { ...route.given, item: null }); },
  });
  const shown = SCREENS.filter((screen) => !screen.care || mayCare());
  const screen = shown.find((one) => one.name === route.screen);
  const again = () => redraw((n) => n + 1);
  document.documentElement.lang = language() === "zh" ? "zh-Hans" : "en";
  document.title = `${t(screen?.name ?? "no.screen")} · mnemic`;
  return html`<div class="frame">
    <nav class="rail" aria-label=${t("screens")}>
      <div class="brand"><img src=${new URL("./icon.svg", import.meta.url).pathname} alt="" width="22" height="22" /><b>mnemic</b></div>
      ${shown.map((one, place) => html`<a href=${`#/${one.name}`} key=${one.name} class=${`${one === screen ? "here" : ""} ${place > 3 ? "second" : ""}`} aria-current=${one === screen ? "page" : null}><${Icon} name=${one.name} />${t(one.name)}</a>`)}
      <a class="only-phone" href="#" onClick=${(event) => { event.preventDefault(); setOpen("more"); }}><${Icon} name="more" />${t("more")}</a>
      <div class="foot"><div class="tools"><span class=${`live ${link}`} role="status">${t(link === "lost" ? "lost" : "live")}</span></div><${Tools} onHelp=${() => setOpen("help")} onChange=${again} users=${users} /></div>
    </nav>
    <main class=${`main ${route.given.item ? "beside" : ""}`}>
      ${screen ? html`<${Screen} screen=${screen} route=${route} commits=${commits} />` : html`<section class="screen"><${Empty} title=${t("no.screen")}><a href="#/search">${t("no.screen.home")}</a></${Empty}></section>`}
      ${route.given.item && html`<${ItemPanel} id=${route.given.item} route=${route} commits=${commits} key=${route.given.item} />`}
    </main>
    ${open === "help" && html`<${Help} onClose=${() => setOpen("")} />`}
    ${open === "more" && html`<${Dialog} title=${t("more")} onClose=${() => setOpen("")}><nav class="menu">${shown.slice(4).map((one) => html`<a href=${`#/${one.name}`} onClick=${() => setOpen("")}><${Icon} name=${one.name} />${t(one.name)}</a>`)}</nav><${Tools} onHelp=${() => setOpen("help")} onChange=${again} users=${users} /></${Dialog}>`}
    <${Toasts} />
  </div>`;
}

const SignIn = ({ problem }) => html`<main class="main"><div class="screen">${problem.status === 401
  ? html`<${Empty} title=${t(here().given.over ? "sign.over" : "sign.in")}>${t("sign.how")} <code>mnemic dashboard</code></${Empty}>`
  : html`<div class="empty"><${Trouble} problem=${problem} retry=${() => location.reload()} /></div>`}</div></main>`;

applyTheme(recallKept("mnemic.theme"));
const root = document.getElementById("app");
// What the page holds until now is the frame's own outline: drawn again over it, so that nothing jumps.
signIn().then(() => html`<${Frame} />`, (problem) => html`<${SignIn} problem=${problem} />`).then((what) => { root.replaceChildren(); render(what, root); });
