#include "hone/analysis/draw_page_script.h"

namespace hone {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ink: #222; --quiet: #666; --paper: #fff; --line: #bbb; --module: #00000008; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eee; --quiet: #aaa; --paper: #1b1d1f; --line: #555; --module: #ffffff0a; }
}
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; font: 14px/1.4 "DejaVu Sans", system-ui, sans-serif;
       color: var(--ink); background: var(--paper); }
header { display: flex; flex-wrap: wrap; gap: .5em; align-items: center; padding: .5em .8em;
         border-bottom: 1px solid var(--line); }
h1 { font-size: 1.1em; margin: 0 .5em 0 0; overflow-wrap: anywhere; }
#search { width: 14em; max-width: 40vw; font: inherit; }
button { font: inherit; }
#found { color: var(--quiet); }
#legend { display: flex; flex-wrap: wrap; gap: .3em .8em; font-size: .85em; }
#legend i { display: inline-block; width: 1em; height: 1em; border: 1px solid #888; border-radius: 3px;
            vertical-align: -2px; margin-right: .3em; }
main { flex: 1; min-height: 0; display: flex; }
#canvas { flex: 1; min-width: 0; touch-action: none; cursor: grab; user-select: none; }
#canvas.moving { cursor: grabbing; }
#facts { width: 22em; max-width: 45vw; overflow: auto; padding: .6em .8em; border-left: 1px solid var(--line);
         overflow-wrap: anywhere; font-size: .9em; }
#facts h2 { font-size: 1em; margin: 0 0 .4em; }
#facts dt { color: var(--quiet); margin-top: .5em; }
#facts dd { margin: 0; }
#facts button { text-align: left; border: 0; background: none; padding: 0; color: inherit; text-decoration: underline; }
svg text { font-family: inherit; }
.module > rect { fill: var(--module); stroke: var(--line); }
.module > text { fill: var(--quiet); font-size: 11px; }
.head { cursor: pointer; }
.box { cursor: pointer; }
.box rect { stroke: #888; }
.box text { fill: #111; font-size: 10px; text-anchor: middle; }
.box .name { font-size: 9px; fill: #333; }
.closed rect { stroke-width: 2; }
.edge { fill: none; stroke: var(--quiet); stroke-width: 1; opacity: .7; }
.edge.near { stroke: #d9480f; stroke-width: 2; opacity: 1; }
.type { fill: var(--quiet); font-size: 8px; text-anchor: middle; }
.box.picked rect, .box:focus rect { stroke: #d9480f; stroke-width: 3; }
.box:focus { outline: none; }
)css";

// Modules nest. The items of an open module (operations and modules) are laid out independently: ranks by the longest
// path, the order within a rank by the mean position of the preceding neighbours, top to bottom, or left to right if
// there are many. An edge belongs to the innermost module that contains both ends, between the two items there.
constexpr std::string_view kScript = R"js(
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("canvas"), facts = document.getElementById("facts");
const {modules, nodes, edges} = data;
const kGap = 14, kRankGap = 22, kGapAcross = 48, kHead = 16, kPadding = 8, kReadable = .7;

for (const module of modules) Object.assign(module, {children: [], own: [], count: 0, open: false});
modules.forEach((module, i) => { if (i > 0) modules[module.parent].children.push(i); });
nodes.forEach((node, i) => {
  modules[node.module].own.push(i);
  for (let m = node.module; ; m = modules[m].parent) { ++modules[m].count; if (m === 0) break; }
});
modules[0].open = true;

// The modules around a node, from all to the innermost; then, with the node itself, what stands in each.
const chain = nodes.map(node => {
  const path = [];
  for (let m = node.module; ; m = modules[m].parent) { path.unshift(m); if (m === 0) break; }
  return path;
});
// What of a node stands in the module at a place of its chain: a child module, or the node.
const itemAt = (node, level) => level + 1 < chain[node].length ? "m" + chain[node][level + 1] : "n" + node;
for (const module of modules) module.links = new Map();  // of items, by both their names
edges.forEach(([from, to, type]) => {
  let level = 0;
  while (chain[from][level + 1] !== undefined && chain[from][level + 1] === chain[to][level + 1]) ++level;
  const a = itemAt(from, level), b = itemAt(to, level), links = modules[chain[from][level]].links;
  if (a !== b && !links.has(a + " " + b)) links.set(a + " " + b, [a, b]);
});

const lastWord = (name, around) => around && name.startsWith(around + ".") ? name.slice(around.length + 1) : name;
const shorten = text => text.length > 26 ? text.slice(0, 12) + "…" + text.slice(-13) : text;

function linesOf(item) {
  if (item[0] === "m") {
    const module = modules[item.slice(1)];
    return [module.label, module.count + (module.count === 1 ? " operation" : " operations"), module.fact];
  }
  const node = nodes[item.slice(1)];
  const mark = node.mark ? node.mark + " " : "";
  if (node.kind === "input" || node.kind === "output") return [mark + node.name, node.types[0]];
  const name = lastWord(node.name, modules[node.module].path);
  return [mark + node.kind, name === node.kind || name === modules[node.module].path ? "" : shorten(name), node.fact];
}

function ranksOf(items, links) {
  const next = new Map(items.map(i => [i, []])), rank = new Map(), state = new Map();
  for (const [a, b] of links) if (next.has(a) && next.has(b)) next.get(a).push(b);
  // A link back to what is being visited would be a circle: it does not count.
  const forward = new Map(items.map(i => [i, []])), order = [];
  const visit = item => {
    state.set(item, 1);
    for (const other of next.get(item)) {
      if (state.get(other) === 1) continue;
      forward.get(item).push(other);
      if (!state.has(other)) visit(other);
    }
    state.set(item, 2);
    order.unshift(item);
  };
  for (const item of items) if (!state.has(item)) visit(item);
  for (const item of items) rank.set(item, 0);
  for (const item of order)
    for (const other of forward.get(item)) rank.set(other, Math.max(rank.get(other), rank.get(item) + 1));
  // What nothing leads to stands in front of what reads it.
  const read = new Set([...forward.values()].flat());
  for (const item of [...order].reverse())
    if (!read.has(item) && forward.get(item).length)
      rank.set(item, Math.min(...forward.get(item).map(other => rank.get(other))) - 1);
  const rows = [];
  for (const item of items) (rows[rank.get(item)] ||= []).push(item);
  const before = new Map(items.map(i => [i, []]));
  for (const [a, list] of forward) for (const b of list) before.get(b).push(a);
  const place = new Map();
  const filled = rows.filter(Boolean);
  filled.forEach(row => {
    const wish = item => {
      const seen = before.get(item).filter(other => place.has(other)).map(other => place.get(other));
      return seen.length ? seen.reduce((x, y) => x + y) / seen.length : row.indexOf(item);
    };
    const wishes = new Map(row.map(item => [item, wish(item)]));
    row.sort((a, b) => wishes.get(a) - wishes.get(b));
    row.forEach((item, i) => place.set(item, i - (row.length - 1) / 2));
  });
  return filled;
}

// Modules of more boxes than these are laid out from left to right: what fits the screen best.
const kAcrossFrom = [34, 20, 12];
let acrossFrom = kAcrossFrom[0];
const boxes = new Map();  // by item: size, and place inside of the module around it

function sizeOf(item) {
  if (item[0] === "m" && modules[item.slice(1)].open) return layOut(+item.slice(1));
  const lines = linesOf(item).filter(Boolean);
  const width = Math.max(...lines.map((line, i) => line.length * (i ? 5.6 : 6.8)));
  return {w: Math.max(54, width + 16), h: 10 + 13 * lines.length};
}

const visible = module => [...module.own.map(i => "n" + i), ...module.children.map(i => "m" + i)];
const openCount = item => item[0] === "n" || !modules[item.slice(1)].open ? 1
  : visible(modules[item.slice(1)]).reduce((sum, one) => sum + openCount(one), 0);

function layOut(index) {
  const module = modules[index], items = visible(module);
  for (const item of items) boxes.set(item, sizeOf(item));
  const rows = ranksOf(items, module.links.values());
  module.across = items.reduce((sum, one) => sum + openCount(one), 0) > acrossFrom;
  const gap = module.across ? kGapAcross : kRankGap;
  const along = module.across ? "w" : "h", aside = module.across ? "h" : "w";
  const breadth = row => row.reduce((sum, item) => sum + boxes.get(item)[aside] + kGap, -kGap);
  const most = Math.max(0, ...rows.map(breadth));
  let at = 0;
  for (const row of rows) {
    const depth = Math.max(...row.map(item => boxes.get(item)[along]));
    let side = (most - breadth(row)) / 2;
    for (const item of row) {
      const box = boxes.get(item), main = at + (depth - box[along]) / 2;
      // From left to right what is tall and what is small begin at one height.
      [box.x, box.y] = module.across ? [main, rows.length > 1 && row.length === 1 ? 0 : side] : [side, main];
      side += box[aside] + kGap;
    }
    at += depth + gap;
  }
  const length = at - gap, head = index === 0 ? 0 : kHead;
  for (const item of items) { boxes.get(item).x += kPadding; boxes.get(item).y += kPadding + head; }
  const label = index === 0 ? 0 : module.label.length * 6.6 + 30;
  return {w: Math.max(label, (module.across ? length : most) + 2 * kPadding),
          h: (module.across ? most : length) + 2 * kPadding + head};
}

const kSvg = "http://www.w3.org/2000/svg";
function element(name, attributes, parent, text) {
  const made = document.createElementNS(kSvg, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

let view = {x: 0, y: 0, w: 100, h: 100}, whole = {w: 100, h: 100}, picked = null;
const places = new Map();  // by item: where it is drawn

function showView() { canvas.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`); }

function fit() {
  const margin = 10, shape = canvas.clientWidth / Math.max(1, canvas.clientHeight) || 1.6;
  let w = whole.w + 2 * margin, h = whole.h + 2 * margin;
  if (w / h < shape) w = h * shape; else h = w / shape;
  view = {x: whole.w / 2 - w / 2, y: whole.h / 2 - h / 2, w, h};
  showView();
}

function zoom(factor, x = view.x + view.w / 2, y = view.y + view.h / 2) {
  const w = Math.min(Math.max(view.w * factor, 60), 40 * Math.max(whole.w, whole.h)), f = w / view.w;
  view = {x: x - (x - view.x) * f, y: y - (y - view.y) * f, w, h: view.h * f};
  showView();
}

function drawItems(index, x, y, under, over) {
  for (const item of visible(modules[index])) {
    const box = boxes.get(item), left = x + box.x, top = y + box.y;
    places.set(item, {x: left, y: top, w: box.w, h: box.h});
    const module = item[0] === "m" ? modules[item.slice(1)] : null;
    if (module && module.open) {
      const group = element("g", {class: "module", "data-path": module.path}, under);
      element("rect", {x: left, y: top, width: box.w, height: box.h, rx: 8}, group);
      const head = element("text", {x: left + 8, y: top + 13, class: "head", tabindex: 0, role: "button",
                                    "aria-label": "fold " + module.path}, group, "▾ " + module.label);
      head.onclick = () => toggle(module);
      head.onkeydown = event => { if (event.key === "Enter") toggle(module); };
      drawItems(+item.slice(1), left, top, under, over);
      continue;
    }
    const group = element("g", {class: "box" + (module ? " closed" : ""), tabindex: 0, role: "button",
                                "data-item": item, "data-name": module ? module.path : nodes[item.slice(1)].name}, over);
    const what = module || nodes[item.slice(1)], round = !module && /put$/.test(what.kind);
    const rect = element("rect", {x: left, y: top, width: box.w, height: box.h, rx: round ? box.h / 2 : 5,
                                  fill: what.fill}, group);
    if (what.mark) {
      rect.style.stroke = {"+": "#2b8a3e", "-": "#c92a2a", "~": "#e67700"}[what.mark];
      rect.style.strokeWidth = 3;
    }
    linesOf(item).filter(Boolean).forEach((line, i) => element("text", {
      x: left + box.w / 2, y: top + 15 + 13 * i, class: i ? "name" : "kind",
      "font-weight": i ? "normal" : "bold"}, group, (module && i === 0 ? "▸ " : "") + line));
    element("title", {}, group, module ? module.path : what.name);
    group.onclick = () => { if (!moved) pick(item); };
    group.ondblclick = () => { if (module) toggle(module); };
    group.onkeydown = event => {
      if (event.key === "Enter") { if (module) toggle(module); else pick(item); }
    };
  }
}

// Where a node is seen: itself, or the outermost folded module around it.
const seenAs = node => {
  for (let i = 1; i < chain[node].length; ++i) if (!modules[chain[node][i]].open) return "m" + chain[node][i];
  return "n" + node;
};

function drawEdges(layer) {
  const drawn = new Map();
  for (const [from, to, type] of edges) {
    const a = seenAs(from), b = seenAs(to);
    if (a === b) continue;
    const key = a + " " + b + " " + type;
    if (drawn.has(key)) { ++drawn.get(key).count; continue; }
    let level = 0;
    while (chain[from][level + 1] !== undefined && chain[from][level + 1] === chain[to][level + 1]) ++level;
    drawn.set(key, {a, b, type, across: modules[chain[from][level]].across, count: 1});
  }
  for (const {a, b, type, across, count} of drawn.values()) {
    const p = places.get(a), q = places.get(b);
    const [x1, y1, x2, y2] = across ? [p.x + p.w, p.y + p.h / 2, q.x, q.y + q.h / 2]
                                    : [p.x + p.w / 2, p.y + p.h, q.x + q.w / 2, q.y];
    const reach = Math.max(14, (across ? Math.abs(x2 - x1) : Math.abs(y2 - y1)) * .45);
    const [dx, dy] = across ? [reach, 0] : [0, reach];
    element("path", {class: "edge", "data-from": a, "data-to": b, "marker-end": "url(#arrow)",
                     d: `M${x1},${y1} C${x1 + dx},${y1 + dy} ${x2 - dx},${y2 - dy} ${x2},${y2}`}, layer);
    element("text", {class: "type", x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 2}, layer,
            count > 1 ? `${type} ×${count}` : type);
  }
}

function draw() {
  boxes.clear();
  places.clear();
  whole = layOut(0);
  canvas.replaceChildren();
  const marker = element("marker", {id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 6,
                                    markerHeight: 6, orient: "auto"}, element("defs", {}, canvas));
  element("path", {d: "M0,0 L8,4 L0,8 z", fill: "#888"}, marker);
  const under = element("g", {}, canvas), middle = element("g", {}, canvas), over = element("g", {}, canvas);
  drawItems(0, 0, 0, under, over);
  drawEdges(middle);
  if (picked && places.has(picked)) highlight(); else { picked = null; facts.hidden = true; }
}

// The head of the module stays where it is on the screen.
function toggle(module) {
  const item = "m" + modules.indexOf(module), before = places.get(item);
  module.open = !module.open;
  draw();
  const after = places.get(item);
  if (before && after) { view.x += after.x - before.x; view.y += after.y - before.y; }
  showView();
}

function highlight() {
  for (const box of canvas.querySelectorAll(".box"))
    box.classList.toggle("picked", box.dataset.item === picked);
  for (const edge of canvas.querySelectorAll(".edge"))
    edge.classList.toggle("near", edge.dataset.from === picked || edge.dataset.to === picked);
}

function pick(item) {
  picked = item;
  highlight();
  const rows = [];
  const index = +item.slice(1), module = item[0] === "m" ? modules[index] : null;
  const title = module ? module.path : nodes[index].name;
  if (module) {
    rows.push(["Module", module.count + " operations; double click opens it"]);
    if (module.fact) rows.push([legendTitle, module.fact]);
  } else {
    const node = nodes[index];
    rows.push([/put$/.test(node.kind) ? "Graph" : "Operation", node.kind]);
    rows.push(["Gives", node.types.join("; ")]);
    if (node.attributes) rows.push(["Attributes", node.attributes]);
    if (node.fact) rows.push([legendTitle, node.fact]);
    if (node.mark) rows.push(["Difference", {"+": "only in B", "-": "only in A", "~": "changed"}[node.mark]]);
    for (const [name, type] of node.parameters) rows.push(["Parameter", name + " " + type]);
    for (const [from, to, type] of edges) if (to === index) rows.push(["Reads", type, from]);
    for (const [from, to, type] of edges) if (from === index) rows.push(["Read by", type, to]);
  }
  facts.hidden = false;
  facts.replaceChildren();
  facts.append(Object.assign(document.createElement("h2"), {textContent: title}));
  const list = document.createElement("dl");
  let last = "";
  for (const [name, text, node] of rows) {
    if (name !== last) list.append(Object.assign(document.createElement("dt"), {textContent: name}));
    last = name;
    const value = document.createElement("dd");
    if (node !== undefined) {
      const link = Object.assign(document.createElement("button"), {textContent: nodes[node].name});
      link.onclick = () => goTo(node);
      value.append(link, " " + text);
    } else value.textContent = text;
    list.append(value);
  }
  if (module) {
    const open = Object.assign(document.createElement("button"), {textContent: "Open it"});
    open.onclick = () => toggle(module);
    facts.append(list, open);
  } else facts.append(list);
}

// Opens what is around a node, and brings it into the middle.
function goTo(node) {
  for (const m of chain[node]) modules[m].open = true;
  draw();
  const place = places.get("n" + node), w = Math.min(view.w, 900), h = view.h * w / view.w;
  view = {x: place.x + place.w / 2 - w / 2, y: place.y + place.h / 2 - h / 2, w, h};
  showView();
  pick("n" + node);
}

const search = document.getElementById("search"), found = document.getElementById("found");
let hits = [], hit = 0;
search.oninput = () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  hits = words.length ? nodes.map((node, i) => i).filter(i =>
    words.every(word => (nodes[i].name + " " + nodes[i].kind).toLowerCase().includes(word))) : [];
  hit = 0;
  if (hits.length) goTo(hits[0]);
  found.textContent = words.length ? (hits.length ? `1 of ${hits.length}` : "none") : "";
};
search.onkeydown = event => {
  if (event.key !== "Enter" || !hits.length) return;
  hit = (hit + (event.shiftKey ? hits.length - 1 : 1))% hits.length;
  goTo(hits[hit]);
  found.textContent = `${hit + 1} of ${hits.length}`;
};

const pointOf = event => {
  const box = canvas.getBoundingClientRect();
  return [view.x + (event.clientX - box.left) / box.width * view.w,
          view.y + (event.clientY - box.top) / box.height * view.h];
};
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * .004), ...pointOf(event));
}, {passive: false});
const fingers = new Map();
let moved = false;
canvas.onpointerdown = event => { fingers.set(event.pointerId, event); moved = false; };
canvas.onpointermove = event => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const box = canvas.getBoundingClientRect();
  const others = [...fingers.values()].filter(one => one.pointerId !== event.pointerId);
  if (others.length === 1) {
    const apart = one => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
    if (apart(event) > 0) zoom(apart(before) / apart(event), ...pointOf(event));
  } else {
    if (Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) > 3) {
      moved = true;
      canvas.setPointerCapture(event.pointerId);
    }
    if (!moved) return;
    canvas.classList.add("moving");
    view.x -= (event.clientX - before.clientX) / box.width * view.w;
    view.y -= (event.clientY - before.clientY) / box.height * view.h;
    showView();
  }
  fingers.set(event.pointerId, event);
};
canvas.onpointerup = canvas.onpointercancel = event => {
  fingers.delete(event.pointerId);
  canvas.classList.remove("moving");
};

function openLevels(levels) { modules.forEach(module => { module.open = module.depth <= levels; }); }
const deepest = Math.max(...modules.map(module => module.depth));
document.getElementById("fit").onclick = fit;
document.getElementById("in").onclick = () => zoom(.8);
document.getElementById("out").onclick = () => zoom(1.25);
document.getElementById("fold").onclick = () => { openLevels(0); draw(); fit(); };
document.getElementById("unfold").onclick = () => { openLevels(deepest); draw(); fit(); };
addEventListener("keydown", event => {
  if (event.target === search) { if (event.key === "Escape") search.blur(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = view.w / 10;
  const keys = {"/": () => search.focus(), "+": () => zoom(.8), "-": () => zoom(1.25), "0": fit,
                ArrowLeft: () => { view.x -= step; showView(); }, ArrowRight: () => { view.x += step; showView(); },
                ArrowUp: () => { view.y -= step; showView(); }, ArrowDown: () => { view.y += step; showView(); },
                Escape: () => { picked = null; facts.hidden = true; highlight(); }};
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});
addEventListener("resize", fit);

const legend = document.getElementById("legend"), legendTitle = legend.textContent;
for (const [label, colour] of data.legend) {
  const entry = document.createElement("span"), sample = document.createElement("i");
  sample.style.background = colour;
  entry.append(sample, label);
  legend.append(entry);
}

// As many modules as can be read on one screen, the outer ones first.
function scaleIf(from) {
  acrossFrom = from;
  const size = layOut(0);
  return Math.min(canvas.clientWidth / size.w, canvas.clientHeight / size.h);
}
if (data.depth) openLevels(data.depth);
else {
  openLevels(1);
  const outerFirst = modules.filter(module => module.depth > 1).sort((a, b) => a.depth - b.depth);
  for (const module of outerFirst) {
    if (!modules[module.parent].open) continue;
    module.open = true;
    if (Math.max(...kAcrossFrom.map(scaleIf)) < kReadable) module.open = false;
  }
}
const scales = kAcrossFrom.map(scaleIf);
acrossFrom = kAcrossFrom[scales.indexOf(Math.max(...scales))];
draw();
fit();
})();
)js";

}  // namespace

std::string_view draw_page_script() { return kScript; }

std::string_view draw_page_style() { return kStyle; }

}  // namespace hone
