// Draws a graph with sigma: where nodes stand is worked out here, in steps that leave the page free to answer.

/** Places for nodes: a spiral by degree, then springs and repulsion over a grid, `steps` times. Lengths are free units. */
export class Placing {
  constructor(count, edges) {
    this.count = count;
    this.edges = edges;
    this.x = new Float32Array(count);
    this.y = new Float32Array(count);
    this.degree = new Uint32Array(count);
    for (const [from, to] of edges) { this.degree[from] += 1; this.degree[to] += 1; }
    const order = Array.from(this.degree.keys()).sort((a, b) => this.degree[b] - this.degree[a]);
    order.forEach((node, place) => {
      const far = Math.sqrt(place + 0.5), turn = place * 2.399963;
      this.x[node] = far * Math.cos(turn);
      this.y[node] = far * Math.sin(turn);
    });
    this.heat = 1;
  }

  /** One step: neighbours pull, whoever is in the same or the next cell of a grid pushes; less far each time. */
  step() {
    const { x, y, count, edges, degree } = this, dx = new Float32Array(count), dy = new Float32Array(count);
    const cell = 2.4, grid = new Map();
    for (let node = 0; node < count; node += 1) {
      const key = Math.floor(x[node] / cell) * 73856093 + Math.floor(y[node] / cell);
      const there = grid.get(key);
      if (there) there.push(node); else grid.set(key, [node]);
    }
    for (let node = 0; node < count; node += 1) {
      const column = Math.floor(x[node] / cell), line = Math.floor(y[node] / cell);
      for (let i = -1; i <= 1; i += 1) for (let j = -1; j <= 1; j += 1) {
        const there = grid.get((column + i) * 73856093 + line + j);
        if (!there) continue;
        for (let at = 0; at < there.length && at < 24; at += 1) {
          const other = there[at];
          if (other === node) continue;
          const a = x[node] - x[other], b = y[node] - y[other], far = a * a + b * b + 0.02;
          if (far > 9) continue;
          dx[node] += (a / far) * 0.9;
          dy[node] += (b / far) * 0.9;
        }
      }
      dx[node] -= x[node] * 0.002;
      dy[node] -= y[node] * 0.002;
    }
    for (const [from, to] of edges) {
      const a = x[to] - x[from], b = y[to] - y[from], far = Math.sqrt(a * a + b * b) + 0.01, pull = (far - 1.8) * 0.12;
      const u = (a / far) * pull, v = (b / far) * pull;
      dx[from] += u / Math.sqrt(degree[from]);
      dy[from] += v / Math.sqrt(degree[from]);
      dx[to] -= u / Math.sqrt(degree[to]);
      dy[to] -= v / Math.sqrt(degree[to]);
    }
    for (let node = 0; node < count; node += 1) {
      const far = Math.hypot(dx[node], dy[node]) || 1, most = Math.min(far, 1.2 * this.heat);
      x[node] += (dx[node] / far) * most;
      y[node] += (dy[node] / far) * most;
    }
    this.heat = Math.max(0.02, this.heat * 0.985);
  }
}

/** The colours of types of nodes, in the order in which they first come. */
export const TYPES = ["--accent", "--blue", "--amber", "--violet", "--danger"];

export const typesOf = (graph) => [...new Set(graph.nodes.map((node) => node.type))];

/** Whether two boxes (left, top, width, height) have a place in common. */
const overlap = ([a, b, w, h], [x, y, wide, high]) => a < x + wide && x < a + w && b < y + high && y < b + h;

/** Draw `graph` (nodes and edges as the operation answers them) into `plate`; answers what ends it and the time it took. */
export function draw(plate, graph, { onOpen, onEnter, centre = "" }) {
  const began = performance.now();
  const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
  const types = typesOf(graph);
  const made = new window.graphology.Graph({ multi: true, type: "directed" });
  const placing = new Placing(graph.nodes.length, graph.edges.map((edge) => [edge.src, edge.dst]));
  const budget = began + (graph.nodes.length > 1500 ? 120 : 250);
  for (let step = 0; step < 200 && performance.now() < budget; step += 1) placing.step();
  graph.nodes.forEach((node, place) => made.addNode(place, {
    x: placing.x[place], y: placing.y[place], label: node.name.length > 26 ? `${node.name.slice(0, 25)}…` : node.name, size: Math.min(16, 3.5 + Math.sqrt(placing.degree[place]) * 1.6),
    color: colour(node.ended ? "--faint" : TYPES[types.indexOf(node.type) % TYPES.length]), highlighted: node.name === centre,
  }));
  for (const edge of graph.edges) made.addDirectedEdge(edge.src, edge.dst, { label: edge.label, size: edge.made_of === "fact" ? 1.6 : 0.8, color: edge.ended ? colour("--line") : colour("--faint"), type: graph.edges.length > 3000 ? "line" : "arrow" });
  let over = null;
  let taken = []; // what is drawn of names and of labels of edges, so that none is drawn over another
  const sigma = new window.Sigma(made, plate, {
    stagePadding: 70, labelColor: { color: colour("--ink") }, labelFont: "system-ui, sans-serif", labelSize: 12, labelDensity: 0.6, labelRenderedSizeThreshold: graph.nodes.length > 300 ? 9 : 4,
    renderEdgeLabels: graph.edges.length <= 120, edgeLabelColor: { color: colour("--muted") }, edgeLabelSize: 10, defaultEdgeType: "arrow", zIndex: true, allowInvalidContainer: true,
    defaultDrawEdgeLabel: (pen, edge, from, to, settings) => {
      if (!edge.label) return;
      pen.font = `${settings.edgeLabelSize}px ${settings.labelFont}`;
      const wide = pen.measureText(edge.label).width, high = settings.edgeLabelSize, x = (from.x + to.x) / 2, y = (from.y + to.y) / 2;
      const box = [x - wide / 2 - 2, y - high / 2 - 2, wide + 4, high + 4];
      if (Math.hypot(from.x - to.x, from.y - to.y) < wide || taken.some((other) => overlap(box, other))) return;
      taken.push(box);
      pen.fillStyle = colour("--muted");
      pen.textAlign = "center";
      pen.fillText(edge.label, x, y + high / 3);
      pen.textAlign = "start";
    },
    defaultDrawNodeLabel: (pen, node, settings) => {
      if (!node.label) return;
      pen.font = `${settings.labelSize}px ${settings.labelFont}`;
      pen.fillStyle = colour("--ink");
      const x = node.x + node.size + 3;
      pen.fillText(node.label, x, node.y + settings.labelSize / 3);
      taken.push([node.x - node.size, node.y - Math.max(node.size, settings.labelSize), x - node.x + node.size + pen.measureText(node.label).width, 2 * Math.max(node.size, settings.labelSize)]);
    },
    defaultDrawNodeHover: (pen, data, settings) => {
      pen.font = `600 ${settings.labelSize}px ${settings.labelFont}`;
      const wide = pen.measureText(data.label).width + 14;
      pen.fillStyle = colour("--surface");
      pen.strokeStyle = colour("--line");
      pen.beginPath();
      pen.roundRect(data.x + data.size + 2, data.y - 12, wide, 24, 6);
      pen.fill();
      pen.stroke();
      pen.fillStyle = colour("--ink");
      pen.fillText(data.label, data.x + data.size + 9, data.y + 4);
    },
    nodeReducer: (node, data) => (over === null || node === over || made.areNeighbors(node, over) ? data : { ...data, color: colour("--line"), label: "" }),
    edgeReducer: (edge, data) => (over === null || made.hasExtremity(edge, over) ? data : { ...data, hidden: true }),
  });
  sigma.on("beforeRender", () => { taken = []; });
  sigma.on("enterNode", ({ node }) => { over = node; sigma.refresh({ skipIndexation: true }); });
  sigma.on("leaveNode", () => { over = null; sigma.refresh({ skipIndexation: true }); });
  sigma.on("clickNode", ({ node }) => onOpen(graph.nodes[node]));
  sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => { preventSigmaDefault(); onEnter(graph.nodes[node]); });
  const took = performance.now() - began;
  // The rest of the settling happens between frames.
  let frame = 0, steps = 0;
  const settle = () => {
    const until = performance.now() + 10;
    while (performance.now() < until && steps < 260) { placing.step(); steps += 1; }
    made.updateEachNodeAttributes((node, data) => { data.x = placing.x[node]; data.y = placing.y[node]; return data; }, { attributes: ["x", "y"] });
    if (steps < 260) frame = requestAnimationFrame(settle);
  };
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) frame = requestAnimationFrame(settle);
  const sized = new ResizeObserver(() => sigma.resize().refresh({ skipIndexation: true }));
  sized.observe(plate);
  return { took, end: () => { sized.disconnect(); cancelAnimationFrame(frame); sigma.kill(); } };
}
