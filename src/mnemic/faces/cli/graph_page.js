"use strict";
// Draws the graph that the page holds as JSON. Every word of it is written as text, never as markup.
const graph = JSON.parse(document.getElementById("graph").textContent);
const svg = document.querySelector("svg"), told = document.getElementById("told");
const nodes = graph.nodes, edges = graph.edges;
const make = (name, attributes, into, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return into.appendChild(made);
};
const write = (name, text, into, style) => {
  const made = document.createElement(name);
  made.dir = "auto";
  made.textContent = text;
  if (style) made.className = style;
  return into.appendChild(made);
};
const short = (text, most) => { const all = Array.from(text); return all.length > most ? all.slice(0, most - 1).join("") + "…" : text; };

// Where everything starts: a spiral, what has most edges in its middle. So one graph is drawn alike every time.
const degree = nodes.map(() => 0);
for (const edge of edges) { degree[edge.src]++; degree[edge.dst]++; }
const reach = 30 + 260 / Math.sqrt(nodes.length + 4);
nodes.forEach((node, place) => {
  const far = reach * .62 * Math.sqrt(place), turn = place * 2.39996;
  Object.assign(node, { x: far * Math.cos(turn), y: far * Math.sin(turn), dx: 0, dy: 0,
    size: 5 + 2.2 * Math.sqrt(degree[place]) });
});

// Forces: all nodes push each other away, edges pull, and a little pulls to the middle (Fruchterman and Reingold, 1991).
const step = heat => {
  for (const node of nodes) { node.dx = -node.x * .03; node.dy = -node.y * .03; }
  for (let a = 0; a < nodes.length; a++) for (let b = a + 1; b < nodes.length; b++) {
    let x = nodes[a].x - nodes[b].x, y = nodes[a].y - nodes[b].y, square = x * x + y * y;
    if (square < .01) { x = .1 * (a - b); y = .1; square = x * x + y * y; }
    if (square > 25 * reach * reach) continue;
    const push = Math.min(reach * reach / square, 40);
    nodes[a].dx += x * push * .35; nodes[a].dy += y * push * .35;
    nodes[b].dx -= x * push * .35; nodes[b].dy -= y * push * .35;
  }
  for (const edge of edges) {
    const a = nodes[edge.src], b = nodes[edge.dst], x = b.x - a.x, y = b.y - a.y;
    const pull = (Math.hypot(x, y) - reach) / (reach * (1 + Math.min(degree[edge.src], degree[edge.dst]) / 3));
    a.dx += x * pull * .3; a.dy += y * pull * .3;
    b.dx -= x * pull * .3; b.dy -= y * pull * .3;
  }
  for (const node of nodes) if (!node.held) {
    const much = Math.hypot(node.dx, node.dy) || 1, far = Math.min(much, heat);
    node.x += node.dx / much * far; node.y += node.dy / much * far;
  }
};
let heat = reach * .6;
for (let round = 0; round < (nodes.length > 200 ? 120 : 260); round++) step(heat *= .985);

// The drawing
const marks = make("defs", {}, svg);
const arrow = make("marker", { id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 6, markerHeight: 6,
  orient: "auto-start-reverse" }, marks);
make("path", { d: "M 0 1 L 9 5 L 0 9 z", style: "fill: var(--line); stroke: none" }, arrow);
const world = make("g", {}, svg);
const many = nodes.length > 60, crowded = edges.length > 40;
const between = new Map();
for (const edge of edges) {
  const pair = [edge.src, edge.dst].sort((a, b) => a - b).join(" "), some = between.get(pair) || [];
  some.push(edge);
  between.set(pair, some);
}
for (const some of between.values()) some.forEach((edge, place) => {
  edge.bend = (place - (some.length - 1) / 2) * 34 * (edge.src < edge.dst ? 1 : -1);
});
for (const edge of edges) {
  edge.group = make("g", { class: `edge ${edge.made_of}${edge.ended ? " ended" : ""}`, tabindex: 0 }, world);
  edge.line = make("path", { class: "line", ...(edge.made_of === "fact" ? { "marker-end": "url(#arrow)" } : {}) }, edge.group);
  edge.hit = make("path", { class: "hit" }, edge.group);
  edge.text = make("text", { class: crowded ? "far" : "" }, edge.group, short(edge.label, 32));
}
const colours = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d"];
const types = [...new Set(nodes.map(node => node.type))];
nodes.forEach((node, place) => {
  node.group = make("g", { class: `node${node.ended ? " ended" : ""}`, tabindex: 0 }, world);
  make("circle", { r: node.size, fill: colours[types.indexOf(node.type) % colours.length] }, node.group);
  make("text", { x: node.size + 3, y: 4, class: many && place >= 40 ? "far" : "" }, node.group, short(node.name, 36));
});
const draw = () => {
  for (const node of nodes) node.group.setAttribute("transform", "translate(" + node.x + " " + node.y + ")");
  for (const edge of edges) {
    const a = nodes[edge.src], b = nodes[edge.dst], x = b.x - a.x, y = b.y - a.y, far = Math.hypot(x, y) || 1;
    const mx = (a.x + b.x) / 2 - y / far * edge.bend, my = (a.y + b.y) / 2 + x / far * edge.bend;
    const back = Math.hypot(b.x - mx, b.y - my) || 1, stop = (b.size + 3) / back;
    const path = ["M", a.x, a.y, "Q", mx, my, b.x - (b.x - mx) * stop, b.y - (b.y - my) * stop].join(" ");
    edge.line.setAttribute("d", path);
    edge.hit.setAttribute("d", path);
    edge.text.setAttribute("x", (a.x + b.x) / 4 + mx / 2);
    edge.text.setAttribute("y", (a.y + b.y) / 4 + my / 2 - 3);
  }
};

// What is shown of it: wheel and drag move the view, a drag of a node moves that node
const view = { x: 0, y: 0, scale: 1 };
const place = () => {
  world.setAttribute("transform", "translate(" + view.x + " " + view.y + ") scale(" + view.scale + ")");
  svg.style.setProperty("--zoom", view.scale); // words keep their size on the screen
};
const fit = () => {
  const xs = nodes.map(node => node.x), ys = nodes.map(node => node.y), box = svg.getBoundingClientRect();
  const left = Math.min(...xs) - 40, right = Math.max(...xs) + 120, top = Math.min(...ys) - 40, foot = Math.max(...ys) + 40;
  view.scale = Math.min(1.6, box.width / (right - left), box.height / (foot - top));
  view.x = box.width / 2 - view.scale * (left + right) / 2;
  view.y = box.height / 2 - view.scale * (top + foot) / 2;
  place();
};
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const by = Math.exp(-event.deltaY / 600), scale = Math.min(8, Math.max(.05, view.scale * by));
  view.x = event.clientX - (event.clientX - view.x) * scale / view.scale;
  view.y = event.clientY - (event.clientY - view.y) * scale / view.scale;
  view.scale = scale;
  place();
}, { passive: false });
let held = null;
svg.addEventListener("pointerdown", event => {
  held = { node: nodes.find(node => node.group.contains(event.target)), x: event.clientX, y: event.clientY };
  svg.setPointerCapture(event.pointerId);
  svg.classList.add("dragging");
});
svg.addEventListener("pointermove", event => {
  if (!held) return;
  const x = event.clientX - held.x, y = event.clientY - held.y;
  if (held.node) { held.node.x += x / view.scale; held.node.y += y / view.scale; draw(); }
  else { view.x += x; view.y += y; place(); }
  held.x = event.clientX; held.y = event.clientY;
});
svg.addEventListener("pointerup", () => { held = null; svg.classList.remove("dragging"); });

// What stands behind it
const dates = one => one.since + " to " + (one.until || "now") + (one.ended ? ", ended" : "");
const tell = (one, into) => {
  write("p", one.text, into);
  write("p", [dates(one), one.by || "by hand", one.id].join(" · "), into, "dim");
  if (!one.evidence.length) return;
  const list = into.appendChild(document.createElement("ul"));
  for (const source of one.evidence) write("li", source.said + "  " + source.text, list);
};
const tellNode = node => {
  told.replaceChildren();
  write("h2", node.name + (node.type ? " (" + node.type + ")" : ""), told);
  for (const one of [...node.items, ...node.notes]) tell(one, told);
};
const tellEdge = edge => {
  told.replaceChildren();
  write("h2", nodes[edge.src].name + " — " + (edge.label || "is named with") + " → " + nodes[edge.dst].name, told);
  if (edge.fact) tell(edge.fact, told);
};
const light = (near, ends) => {
  for (const edge of edges) edge.group.classList.toggle("near", near.includes(edge));
  nodes.forEach((node, at) => node.group.classList.toggle("near", ends.has(at)));
};
for (const event of ["pointerenter", "focus"]) {
  nodes.forEach((node, at) => node.group.addEventListener(event, () => {
    const near = edges.filter(edge => edge.src === at || edge.dst === at);
    light(near, new Set([at, ...near.flatMap(edge => [edge.src, edge.dst])]));
    tellNode(node);
  }));
  for (const edge of edges) edge.group.addEventListener(event, () => { light([edge], new Set([edge.src, edge.dst])); tellEdge(edge); });
}

// What is asked for
const sought = document.getElementById("sought"), over = document.getElementById("over");
const sift = () => {
  const word = sought.value.trim().toLowerCase();
  for (const node of nodes) node.group.classList.toggle("quiet", word !== "" && !node.name.toLowerCase().includes(word));
  for (const edge of edges) edge.group.style.display = edge.ended && !over.checked ? "none" : "";
};
sought.addEventListener("input", sift);
over.addEventListener("change", sift);
document.getElementById("count").textContent = nodes.length + " names, " + edges.length + " relations"
  + (graph.left_out ? "; " + graph.left_out + " names with fewest relations left out" : "") + (graph.seen ? ", " + graph.seen : "");
draw();
fit();
addEventListener("resize", fit);
