// Graph: entities, facts and episodes around one item or name; a node shows what is said of it, and leads on.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/htm-preact.js";
import { Chip, Empty, Trouble, library, number, useAnswer } from "../parts.js";
import { go } from "../route.js";
import { t } from "../words.js";

export default function Graph({ route, commits }) {
  const { around = "", steps = "2", item = "", from = "", most = "500" } = route.given;
  const [typed, setTyped] = useState(around);
  const [ready, setReady] = useState(Boolean(window.Sigma && window.graphology));
  const [problem, setProblem] = useState(null);
  const [node, setNode] = useState(null);
  const start = from || (around ? "" : item);
  const answer = useAnswer("graph", { limit: Number(most), ...(around ? { around, steps: Number(steps) } : {}) }, [commits]);
  const whole = { ...answer, data: useSame(answer.data) };
  useEffect(() => { setTyped(around); setNode(null); }, [around]);
  useEffect(() => { Promise.all([library("graphology"), library("sigma")]).then(() => setReady(true), () => setProblem({ title: "unreachable" })); }, []);
  const shown = useMemo(() => whole.data && (start ? nearItem(whole.data, start, Number(steps)) ?? whole.data : whole.data), [whole.data, start, steps]);
  const plain = useMemo(() => webgl(), []);
  const enter = (name) => go("graph", { around: name, steps, most: route.given.most });
  const name = (event) => { event.preventDefault(); enter(typed.trim()); };
  return html`<section class="screen" aria-label=${t("graph")}><div class="head"><h1>${t("graph")}</h1>
      ${shown && html`<span class="faint">${t("graph.counts", { nodes: number(shown.nodes.length), edges: number(shown.edges.length) })}${whole.data.left_out ? ` · ${t("graph.left_out", { count: number(whole.data.left_out) })}` : ""}</span>`}<span class="grow"></span>
      <form class="line" onSubmit=${name}><input type="text" placeholder=${t("graph.around")} aria-label=${t("graph.around")} dir="auto" value=${typed} onInput=${(event) => setTyped(event.currentTarget.value)} />
        <select aria-label=${t("graph.steps")} title=${t("graph.steps")} value=${steps} onChange=${(event) => go("graph", { ...route.given, steps: event.currentTarget.value })}>${["1", "2", "3", "5"].map((n) => html`<option value=${n}>${n}</option>`)}</select>
        <select aria-label=${t("graph.most")} title=${t("graph.most")} value=${most} onChange=${(event) => go("graph", { ...route.given, most: event.currentTarget.value })}>${["100", "500", "2000", "5000"].map((n) => html`<option value=${n}>≤ ${n}</option>`)}</select></form>
      ${(around || start) && html`<button onClick=${() => go("graph")}>${t("graph.whole")}</button>`}</div>
    <div class="scrollless"><${Trouble} problem=${whole.problem ?? problem} retry=${whole.again} /></div>
    ${!plain && html`<p class="note" style=${{ padding: "0 22px" }}>${t("graph.no_webgl")}</p>`}
    ${shown && shown.nodes.length === 0 && html`<${Empty} title=${t("graph.empty")}>${t("graph.empty.how")}</${Empty}>`}
    <div class=${`graphs ${shown && node ? "with-node" : ""}`}>${shown && shown.nodes.length > 0 && ready && plain && html`<${Drawing} graph=${shown} centre=${around} onOpen=${setNode} onEnter=${(one) => enter(one.name)} />`}
    ${shown && node && html`<${Node} node=${node} graph=${shown} route=${route} enter=${enter} />`}</div>
    ${shown && shown.nodes.length > 0 && !node && html`<${Names} graph=${shown} onOpen=${setNode} />`}
  </section>`;
}

/** What an answer was before, where it says the same: a commit that changes nothing drawn leaves the drawing alone. */
function useSame(data) {
  const kept = useRef({ data: null, written: "" });
  if (data !== kept.current.seen) {
    const written = JSON.stringify(data);
    kept.current = written === kept.current.written ? { ...kept.current, seen: data } : { data, written, seen: data };
  }
  return kept.current.data;
}

function webgl() {
  try { return Boolean(document.createElement("canvas").getContext("webgl2") ?? document.createElement("canvas").getContext("webgl")); } catch { return false; }
}

/** The part of a graph within so many steps of what states, notes or rests on an item; null if nothing does. */
function nearItem(graph, id, steps) {
  const says = (stated) => stated.id === id || stated.evidence.some((one) => one.id === id);
  const reached = new Set(graph.nodes.flatMap((node, place) => (node.items.some(says) || node.notes.some(says) ? [place] : [])));
  for (const edge of graph.edges) if (edge.fact && says(edge.fact)) { reached.add(edge.src); reached.add(edge.dst); }
  if (reached.size === 0) return null;
  for (let step = 1; step < steps; step += 1) {
    const before = new Set(reached);
    for (const edge of graph.edges) { if (before.has(edge.src)) reached.add(edge.dst); if (before.has(edge.dst)) reached.add(edge.src); }
  }
  const kept = [...reached], place = new Map(kept.map((old, now) => [old, now]));
  return { nodes: kept.map((old) => graph.nodes[old]), left_out: graph.left_out, edges: graph.edges.filter((edge) => place.has(edge.src) && place.has(edge.dst)).map((edge) => ({ ...edge, src: place.get(edge.src), dst: place.get(edge.dst) })) };
}

function Drawing({ graph, centre, onOpen, onEnter }) {
  const plate = useRef(null);
  const [types, setTypes] = useState([]);
  useEffect(() => {
    let drawn = null, wanted = true;
    const make = async () => {
      const { draw, typesOf, TYPES } = await import("../drawing.js");
      if (!wanted) return;
      setTypes(typesOf(graph).map((type, place) => [type, TYPES[place % TYPES.length]]));
      drawn?.end();
      drawn = draw(plate.current, graph, { onOpen, onEnter, centre });
      plate.current.dataset.took = Math.round(drawn.took);
    };
    make();
    document.addEventListener("theme", make);
    return () => { wanted = false; document.removeEventListener("theme", make); drawn?.end(); };
  }, [graph]);
  return html`<div class="canvas"><div class="plate" ref=${plate} role="img" aria-label=${t("graph.counts", { nodes: graph.nodes.length, edges: graph.edges.length })}></div><div class="key faint"><div class="legend">${types.slice(0, 8).map(([type, colour]) => html`<span><i style=${{ background: `var(${colour})` }}></i><bdi>${type || t("graph.untyped")}</bdi></span>`)}</div>${t("graph.key")}</div></div>`;
}

/** The same nodes as a row of buttons: for the keyboard, and for whoever does not see the drawing. */
function Names({ graph, onOpen }) {
  const degree = new Map();
  for (const edge of graph.edges) for (const end of [edge.src, edge.dst]) degree.set(end, (degree.get(end) ?? 0) + 1);
  const most = [...graph.nodes.keys()].sort((a, b) => (degree.get(b) ?? 0) - (degree.get(a) ?? 0)).slice(0, 14);
  return html`<div class="names">${most.map((place) => html`<button onClick=${() => onOpen(graph.nodes[place])}><bdi>${graph.nodes[place].name}</bdi></button>`)}</div>`;
}

function Node({ node: chosen, graph, route, enter }) {
  const place = graph.nodes.findIndex((one) => one.name === chosen.name && one.type === chosen.type); // of an answer that came later
  const node = graph.nodes[place] ?? chosen;
  const edges = graph.edges.filter((edge) => edge.src === place || edge.dst === place);
  const open = (id) => go("graph", { ...route.given, from: route.given.from ?? (route.given.around ? null : route.given.item), item: id });
  return html`<div class="node"><div class="line"><h2 dir="auto">${node.name}</h2><${Chip}>${node.type}</${Chip}>${node.ended && html`<${Chip} tone="warn">${t("graph.ended")}</${Chip}>`}<button onClick=${() => enter(node.name)}>${t("graph.go_on")}</button></div>
    <div class="cards">${edges.slice(0, 60).map((edge) => html`<div class="line"><bdi>${graph.nodes[edge.src].name}</bdi><b dir="auto">${edge.label}</b><bdi>${graph.nodes[edge.dst].name}</bdi>${edge.ended && html`<${Chip} tone="warn">${t("graph.ended")}</${Chip}>`}${edge.fact && html`<span>${t("since")} ${edge.fact.since}</span><button class="link" onClick=${() => open(edge.fact.id)}>${t("source")}</button>`}</div>`)}
      ${[...node.items, ...node.notes].slice(0, 30).map((one) => html`<button class="wrote" onClick=${() => open(one.id)}><span dir="auto">${one.text}</span><span class="faint">${one.since}${one.by ? ` · ${one.by}` : ""}</span></button>`)}</div></div>`;
}
