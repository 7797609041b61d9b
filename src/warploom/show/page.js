"use strict";
const root = document.documentElement;
const runs = JSON.parse(document.getElementById("run-data").textContent);
const colours = JSON.parse(document.getElementById("colour-data").textContent);
const drawn = new Map(); // place: its specification, to draw again in other colours, and what was made of it

// Light and dark: as the system says, until the button is pressed.
function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
function look() {
  const style = getComputedStyle(root), colour = name => style.getPropertyValue(name).trim();
  const text = {labelColor: colour("--ink"), titleColor: colour("--ink"), labelFontSize: 12, titleFontSize: 12};
  return {
    background: null, view: {stroke: null}, title: {color: colour("--ink"), subtitleColor: colour("--soft")},
    axis: {...text, gridColor: colour("--line"), domainColor: colour("--soft"), tickColor: colour("--soft")},
    legend: text, header: text, text: {color: colour("--ink")}, style: {label: {fill: colour("--ink")}},
  };
}
function draw(place, specification) {
  const merged = {...specification, config: {...specification.config, ...look()}};
  drawn.set(place, {specification, made: vegaEmbed(place, merged, {actions: false, renderer: "svg"})});
}
function setTheme(theme) {
  root.dataset.theme = theme;
  try { localStorage.setItem("warploom-theme", theme); } catch { /* a page from a file may keep nothing */ }
  themed();
}
function themed() {
  const button = document.getElementById("theme");
  button.textContent = isDark() ? "Light colours" : "Dark colours";
  for (const [place, {specification}] of drawn) draw(place, specification);
}
try { const kept = localStorage.getItem("warploom-theme"); if (kept) root.dataset.theme = kept; } catch { /* likewise */ }
document.getElementById("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);

// Tables that sort: the values stand in data-value where the text is not what is compared.
function valueOf(row, column) {
  const cell = row.cells[column], text = cell.dataset.value ?? cell.textContent.trim();
  const number = Number(text);
  return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
}
function sortBy(table, heading) {
  const column = [...heading.parentNode.cells].indexOf(heading);
  const ascending = heading.getAttribute("aria-sort") ? heading.getAttribute("aria-sort") !== "ascending" : !heading.classList.contains("number");
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  for (const open of table.querySelectorAll('.open[aria-expanded="true"]')) open.click();
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const left = valueOf(a, column), right = valueOf(b, column);
    const order = typeof left === typeof right ? (left < right ? -1 : left > right ? 1 : 0) : typeof left === "number" ? -1 : 1;
    return ascending ? order : -order;
  });
  table.tBodies[0].append(...rows);
}
for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.tHead.rows[0].cells) {
    if (!heading.textContent.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => sortBy(table, heading));
  }
}

// The table of all runs: made here from their data, so that a row can be opened.
const percent = value => (100 * value).toFixed(1) + "%";
const columns = [
  ["workload", r => r.workload], ["design", r => r.design], ["cycles", r => r.cycles.toLocaleString("en"), r => r.cycles],
  ["time", r => r.time.toFixed(3), r => r.time], ["RF energy", r => percent(r.energy), r => r.energy],
  ["dynamic", r => percent(r.dynamic), r => r.dynamic, "wide"], ["leakage", r => percent(r.leakage), r => r.leakage, "wide"],
  ["overhead", r => percent(r.overhead), r => r.overhead, "wide"], ["IPC", r => r.ipc.toFixed(2), r => r.ipc],
  ["occupancy", r => percent(r.occupancy), r => r.occupancy, "wide"], ["conflicts", r => r.conflicts.toLocaleString("en"), r => r.conflicts, "wide"],
  ["verified", r => r.verified],
];
const zooming = "Scroll to zoom, drag to move, double-click for the whole; or the keys +, -, arrows and 0.";
function bar(parts, label) {
  const total = Object.values(parts).reduce((sum, value) => sum + value, 0) || 1;
  const order = Object.entries(parts).sort((a, b) => b[1] - a[1]);
  const strip = order.map(([name, value]) => `<i style="width:${100 * value / total}%;background:${colours[name] ?? "#888"}" title="${name}: ${percent(value / total)}"></i>`).join("");
  const key = order.map(([name, value]) => `<span><i style="background:${colours[name] ?? "#888"}"></i>${name} ${percent(value / total)}</span>`).join("");
  return `<div class="bar" role="img" aria-label="${label}: ${order.map(([n, v]) => n + " " + percent(v / total)).join(", ")}">${strip}</div><div class="key">${key}</div>`;
}
function overTime(rows, names, title, axis, format, description) {
  const begun = [[0, ...rows[0].slice(1)], ...rows]; // a row's values are true of the time before it
  const values = begun.flatMap(row => names.map((name, place) => ({microseconds: row[0], name, value: row[place + 1]})));
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v5.json", width: "container", height: 190, title, description, data: {values},
    params: [{name: "zoom", select: {type: "interval", encodings: ["x"]}, bind: "scales"}],
    mark: {type: "line", interpolate: "step-before", strokeWidth: 2.2, tooltip: true},
    encoding: {
      x: {field: "microseconds", type: "quantitative", title: "time, microseconds"},
      y: {field: "value", type: "quantitative", title: axis, axis: {format}},
      color: {field: "name", type: "nominal", sort: names, legend: {title: null, orient: "top"}, scale: {domain: names, range: names.map(n => colours[n] ?? "#888")}},
      strokeDash: {field: "name", type: "nominal", sort: names, legend: {title: null, orient: "top"}, scale: {domain: names}},
    },
  };
}
// The keyboard does what wheel and pointer do: zoom into the middle, move by a fifth, show the whole.
const keys = {"+": [1 / 5, -1 / 5], "=": [1 / 5, -1 / 5], "-": [-1 / 3, 1 / 3], ArrowLeft: [-1 / 5, -1 / 5], ArrowRight: [1 / 5, 1 / 5], 0: null, Escape: null};
async function zoomByKey(event, last) {
  if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const {view} = await drawn.get(event.currentTarget).made, change = keys[event.key];
  const [from, to] = view.signal("zoom_microseconds") ?? [0, last];
  view.signal("zoom_microseconds", change && change.map((share, side) => [from, to][side] + share * (to - from))).runAsync();
}
function showOverTime(place, rows, names, title, axis, format, said) {
  if (!rows.length) return;
  const last = rows.at(-1)[0], lengths = rows.map((row, at) => row[0] - (at ? rows[at - 1][0] : 0));
  const means = names.map((name, column) => `${name} ${said(rows.reduce((sum, row, at) => sum + row[column + 1] * lengths[at], 0) / last)}`);
  place.tabIndex = 0;
  place.addEventListener("keydown", event => zoomByKey(event, last));
  draw(place, overTime(rows, names, title, axis, format, `${title}, on average ${means.join(", ")}. Plus and minus zoom, arrows move, 0 shows the whole.`));
}
function detail(run, cell) {
  cell.innerHTML = `<h3></h3><p class="facts"><span>registers <b>${run.registers}</b></span><span>occupancy <b>${percent(run.occupancy)}</b></span><span>IPC <b>${run.ipc}</b></span><span>bank conflicts <b>${run.conflicts.toLocaleString("en")}</b></span></p>
    <h3>Why schedulers issued nothing</h3>${bar(run.stalls, "idle cycles of schedulers by reason")}<p class="caption">Cycles in which a scheduler issued nothing, by reason, as shares of all such cycles.</p>
    <div class="pair"><div><div class="chart states"></div><p class="caption">Shares of the register file's entries in each power state, allocated and live. ${zooming}</p></div><div><div class="chart power"></div><p class="caption">Power of the register file by part. ${zooming}</p></div></div>`;
  cell.querySelector("h3").textContent = `${run.workload} under ${run.design}`;
  showOverTime(cell.querySelector(".states"), run.states, ["on", "drowsy", "off", "allocated", "live"], "Register file over time", "share of entries", ".0%", percent);
  showOverTime(cell.querySelector(".power"), run.power, ["dynamic", "leakage", "overhead"], "Power over time", "watts", "~g", value => value.toPrecision(3) + " W");
}
function openRow(row, button, run) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  if (open) {
    for (const place of row.nextSibling.querySelectorAll(".chart")) drawn.delete(place);
    row.nextSibling.remove();
    return;
  }
  const below = document.createElement("tr");
  below.className = "detail";
  const cell = below.insertCell();
  cell.colSpan = columns.length;
  row.after(below);
  detail(run, cell);
}
const table = document.getElementById("runs-table");
if (table) {
  for (const run of runs) {
    const row = table.tBodies[0].insertRow();
    for (const [place, [, text, value, kind]] of columns.entries()) {
      const cell = row.insertCell();
      if (kind) cell.classList.add(kind);
      if (value) { cell.classList.add("number"); cell.dataset.value = value(run); }
      if (place === 0) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "open";
        button.setAttribute("aria-expanded", "false");
        button.textContent = text(run);
        button.addEventListener("click", () => openRow(row, button, run));
        cell.dataset.value = run.workload;
        cell.append(button);
      } else cell.textContent = text(run);
    }
  }
  const wanted = {text: document.getElementById("filter-text"), workload: document.getElementById("filter-workload"), design: document.getElementById("filter-design")};
  for (const name of ["workload", "design"]) for (const value of new Set(runs.map(run => run[name]))) wanted[name].add(new Option(value, value));
  const filter = () => {
    for (const open of table.querySelectorAll('.open[aria-expanded="true"]')) open.click();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const workload = row.cells[0].dataset.value, design = row.cells[1].textContent;
      const fits = (!wanted.workload.value || workload === wanted.workload.value) && (!wanted.design.value || design === wanted.design.value)
        && row.textContent.toLowerCase().includes(wanted.text.value.toLowerCase());
      row.hidden = !fits;
      shown += fits;
    }
    document.getElementById("filter-count").textContent = `${shown} of ${runs.length} runs`;
  };
  for (const input of Object.values(wanted)) input.addEventListener("input", filter);
  filter();
}

// What each instruction costs: a table is filled when its section is opened.
const hotSpots = JSON.parse(document.getElementById("hot-spot-data").textContent);
const hotSpotNumbers = ["issues", "threads", "idle", "main_file_reads", "main_file_writes", "bank_conflicts", "upper_reads", "wakeup_wait_cycles", "encoded", "energy_pj"];
function fill(spots) {
  const rows = hotSpots.kernels[spots.dataset.kernel].map(values => Object.fromEntries(hotSpots.columns.map((name, place) => [name, values[place]])));
  for (const row of rows) row.spent = Object.values(row.waits).reduce((sum, cycles) => sum + cycles, 0);
  const total = rows.reduce((sum, row) => sum + row.spent, 0) || 1, hottest = Math.max(1, ...rows.map(row => row.spent));
  const wide = [...spots.tHead.rows[0].cells].map(heading => heading.classList.contains("wide"));
  for (const row of rows) {
    const line = spots.tBodies[0].insertRow();
    const add = (text, value, kind = "number") => {
      const cell = line.insertCell();
      cell.className = kind + (wide[cell.cellIndex] ? " wide" : "");
      cell.textContent = text;
      if (value !== undefined) cell.dataset.value = value;
      return cell;
    };
    const real = row.pc >= 0, reasons = Object.entries(row.waits).sort((a, b) => b[1] - a[1]);
    add(real ? row.pc : "", real ? row.pc : 1e6);
    add(row.line || "");
    add(row.live || "");
    add(row.instruction || "(no instruction)", undefined, "text").style.paddingLeft = `${0.5 + row.depth}em`;
    add(percent(row.spent / total), row.spent / total);
    const said = reasons.map(([reason, cycles]) => `${reason} ${Math.round(100 * cycles / row.spent)}%`), cell = add("", said[0] ?? "", "");
    const strip = reasons.map(([reason, cycles]) => `<i style="width:${(100 * cycles / hottest).toFixed(2)}%;background:${colours[reason]}"></i>`);
    cell.innerHTML = `<div class="bar" title="${said.join(", ")}">${strip.join("")}</div><span class="hidden">${said.join(", ")}</span>`;
    for (const name of hotSpotNumbers) add(row[name].toLocaleString("en"), row[name]);
  }
}

// Figures; one inside a closed section is drawn when the section is opened.
function whenOpen(place, show) {
  const folded = place.closest("details");
  if (!folded || folded.open) show();
  else folded.addEventListener("toggle", show, {once: true});
}
for (const spots of document.querySelectorAll(".hot-spots")) whenOpen(spots, () => fill(spots));
const specifications = JSON.parse(document.getElementById("figure-data").textContent);
for (const id of Object.keys(specifications)) {
  const place = document.getElementById(id);
  if (place) whenOpen(place, () => draw(place, specifications[id]));
}
themed();
