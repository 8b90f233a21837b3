"use strict";
// Shows films: recordings of one block's warp instructions (common/simulator/README.md, "Films"). A step is
// [warp, statement, mask, lanes, results, accesses]; everything that is shown was recorded, and is only looked up or added here.
const WARP = 32, PLAY_MS = 350;
const STATEMENT = { text: 0, kind: 1, line: 2, file: 3, sourceLine: 4, outerFile: 5, outerLine: 6, function: 7 };
const $ = (selector, within = document) => within.querySelector(selector);
const bit = (mask, lane) => ((mask >>> lane) & 1) === 1;
const lanesOf = (mask) => [...Array(WARP).keys()].filter((lane) => bit(mask, lane));
const create = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
const coordinates = (d) => `(${d.join(",")})`;
const hex = (address) => "0x" + address.toString(16);

async function unpack() {
  const bytes = Uint8Array.from(atob($("#data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// ---- One film ------------------------------------------------------------------------------------------------------------

class Film {
  constructor(kept, sources) {
    Object.assign(this, kept);
    this.sources = sources;
    this.warps = Math.ceil((this.block[0] * this.block[1] * this.block[2]) / WARP);
    this.places = this.statements.map((s) => this.placeOf(s));
    this.found = new Map();
    for (const [step, title, rows] of this.findings) this.found.set(step, [...(this.found.get(step) || []), [title, rows]]);
    this.last = Array(this.warps).fill(-1); // each warp's last step
    this.steps.forEach((step, i) => (this.last[step[0]] = i));
    this.costs = this.steps.map((step) => step[5].reduce((sum, a) => sum + a[5], 0));
    this.excess = this.steps.map((step) => step[5].reduce((sum, a) => sum + a[5] - a[6], 0));
    this.present = Array.from({ length: this.warps }, (_, warp) => this.presentLanes(warp));
  }
  // The line of a file that is shown: the place itself, or where an inlined function of another file was called.
  placeOf(s) {
    for (const [file, line] of [[s[STATEMENT.file], s[STATEMENT.sourceLine]], [s[STATEMENT.outerFile], s[STATEMENT.outerLine]]]) {
      if (this.sources[this.files[file]]) return { file: this.files[file], line };
    }
    return null;
  }
  presentLanes(warp) {
    const threads = this.block[0] * this.block[1] * this.block[2] - warp * WARP;
    return threads >= WARP ? 0xffffffff : 2 ** threads - 1;
  }
  // What each warp does before step i has run: it runs next, waits at a barrier, has ended, or is ready.
  statesAt(i) {
    const waits = Array(this.warps).fill(null);
    for (const [at, what, warp, barrier] of this.events) {
      if (at > i) break;
      if (what === "waits") waits[warp] = barrier;
      else waits.forEach((id, each) => { if (id === barrier) waits[each] = null; });
    }
    return waits.map((barrier, warp) => {
      if (this.steps[i][0] === warp) return { state: "runs" };
      if (barrier !== null) return { state: "waits", place: this.places[this.steps[this.before(i, (s) => s[0] === warp)]?.[1]] };
      return { state: this.last[warp] < 0 ? "not recorded" : this.last[warp] < i ? "ended" : "ready" };
    });
  }
  before(i, wanted) { while (--i >= 0 && !wanted(this.steps[i], i)); return i; }
  after(i, wanted) { while (++i < this.steps.length && !wanted(this.steps[i], i)); return i < this.steps.length ? i : -1; }
  // The registers of a lane after step i: name → value.
  registers(i, warp, lane) {
    const kept = new Map();
    for (let at = 0; at <= i; ++at) {
      const [of, , mask, , results] = this.steps[at];
      if (of !== warp || !bit(mask, lane)) continue;
      for (const [name, values] of results) kept.set(this.names[name], valueOf(values, mask, lane));
    }
    return kept;
  }
  totals() {
    const sum = { "warp instructions": this.steps.length, "lanes that executed them": 0, "sectors of global memory": 0, "sectors needed at least": 0,
      "passes of shared memory": 0, "passes needed at least": 0, "divergent steps": 0, "errors found": this.findings.length };
    for (const [warp, , mask, , , accesses] of this.steps) {
      sum["lanes that executed them"] += lanesOf(mask).length;
      sum["divergent steps"] += mask !== 0 && (mask | 0) !== (this.present[warp] | 0);
      for (const [space, , , , , cost, least] of accesses) {
        if (space === "global") { sum["sectors of global memory"] += cost; sum["sectors needed at least"] += least; }
        if (space === "shared") { sum["passes of shared memory"] += cost; sum["passes needed at least"] += least; }
      }
    }
    return sum;
  }
}

// The end of a long value: addresses differ in their last digits.
const short = (value) => (value.length > 7 ? "…" + value.slice(-5) : value);

function valueOf(values, mask, lane) {
  return Array.isArray(values) ? values[lanesOf(mask).indexOf(lane)] : values;
}

// ---- One pane ---------------------------------------------------------------------------------------------------------------

class Pane {
  constructor(film, view) {
    this.film = film;
    this.view = view; // shared by the panes: warp, lane, search
    this.root = $("#pane").content.cloneNode(true).firstElementChild;
    $("h2", this.root).textContent = `${film.label}: block ${coordinates(film.at)} of grid ${film.grid.join(" × ")}, ${plural(
      film.block.reduce((a, b) => a * b), "thread")} in ${plural(film.warps, "warp")}`;
    $("h2", this.root).append(create("small"));
    if (film.cut) {
      $(".notice", this.root).hidden = false;
      $(".notice", this.root).textContent = `The recording ends after ${plural(film.steps.length, "step")}; ${film.cut.toLocaleString("en")} more were cut.`;
    }
    this.listPtx();
    this.listTotals();
  }
  listPtx() {
    const list = $(".ptx", this.root);
    let last = "";
    this.ptx = this.film.statements.map((s, i) => {
      if (s[STATEMENT.function] !== last) list.append(create("div", { className: "unused", textContent: `// ${(last = s[STATEMENT.function])}` }));
      const line = create("div", { textContent: s[STATEMENT.text] + ";" });
      line.addEventListener("click", () => this.goTo((step) => step[1] === i));
      list.append(line);
      return line;
    });
  }
  listTotals() {
    const body = $(".totals tbody", this.root);
    for (const [name, value] of Object.entries(this.film.totals())) {
      body.append(create("tr", {}, create("th", { scope: "row", textContent: name }), create("td", { textContent: value.toLocaleString("en") })));
    }
  }
  goTo(wanted) {
    const step = this.film.after(this.step, wanted);
    const found = step >= 0 ? step : this.film.after(-1, wanted);
    if (found >= 0) player.show(found);
  }
  listSource(file) {
    if (this.file === file) return;
    this.file = file;
    $(".file", this.root).textContent = file;
    const used = new Set(this.film.places.filter((p) => p && p.file === file).map((p) => p.line));
    this.source = this.film.sources[file].map((text, i) => {
      const line = create("div", { className: used.has(i + 1) ? "" : "unused" }, create("span", { className: "n", textContent: i + 1 }), text);
      line.addEventListener("click", () => this.goTo((step) => this.film.places[step[1]]?.line === i + 1 && this.film.places[step[1]].file === file));
      return line;
    });
    $(".source", this.root).replaceChildren(...this.source);
  }
  show(i) {
    this.step = i;
    const { film, root } = this;
    const [warp, statement, mask, lanes, results, accesses] = film.steps[i];
    $("h2 small", root).textContent = ` step ${i + 1} of ${film.steps.length}`;
    const place = film.places[statement];
    if (place) this.listSource(place.file);
    mark(this.source, place ? place.line - 1 : -1);
    mark(this.ptx, statement);
    $(".warp", root).textContent = warp;
    this.showLanes(warp, mask, results, accesses);
    const others = film.present[warp] & ~mask;
    $(".active", root).textContent = mask === 0 ? "no lane: the predicate is false for all" : plural(lanesOf(mask).length, "lane") + " active" +
      (others ? `; lanes ${ranges(others)} do not execute this instruction` : "");
    $(".results", root).replaceChildren(...results.map(([name, values]) => create("div", { textContent: `${film.names[name]} = ${Array.isArray(values) ? values.join(", ") : values}` })));
    $(".memory", root).replaceChildren(...accesses.flatMap((access) => this.accessed(access)));
    this.showWarps(i);
    this.showFindings(i);
    this.showLane(i);
  }
  // Lanes that execute, and below them, those that do not: divergence splits the strip, reconvergence joins it.
  showLanes(warp, mask, results, accesses) {
    const rows = (this.film.found.get(this.step) || []).flatMap(([, each]) => each);
    const faulty = new Set(rows.filter(([heading]) => heading === "lane").map(([, lane]) => lane));
    const row = (shown, on) => {
      const cells = lanesOf(0xffffffff).map((lane) => {
        const values = results.length ? results[0][1] : accesses.find((a) => a[8] !== "")?.[8];
        const value = on && values !== undefined ? valueOf(values, mask, lane) : "";
        const cell = create("div", { className: "cell" + (bit(shown, lane) ? (on ? " on" : "") : " absent"), title: value, tabIndex: -1 }, `${lane}`, create("small", { textContent: short(value ?? "") }));
        cell.setAttribute("role", "button");
        cell.setAttribute("aria-label", `lane ${lane}, ${on ? "active" : "not active"}${value ? `, value ${value}` : ""}`);
        if (lane === this.view.lane) cell.classList.add("chosen");
        if (on && faulty.has(`${lane}`)) cell.classList.add("fault");
        cell.addEventListener("click", () => player.choose(lane));
        return cell;
      });
      return create("div", { className: "lanes" }, ...cells);
    };
    const strip = create("div", { className: "lanes-now" }, row(mask >>> 0, true));
    const others = (this.film.present[warp] & ~mask) >>> 0;
    if (others) strip.append(create("div", { className: "split" }, row(others, false)));
    const old = $(".lanes-now", this.root) || $(".state > .lanes", this.root);
    old.replaceWith(strip);
  }
  accessed([space, kind, size, lanes, addresses, cost, least, banks, stored]) {
    const verb = { read: "reads", write: "writes", atomic: "updates" }[kind];
    const bad = cost > least;
    const heading = create("h3", { textContent: `${space} memory: the warp ${verb} ${plural(size, "byte")} per lane` });
    if (space === "shared") {
      const degree = Math.max(...banks);
      const conflict = cost % least ? "bank conflicts" : `${cost / least}-way bank conflict`;
      const text = bad ? `${conflict}: ${plural(cost, "pass", "passes")} where ${least} would do` : `no bank conflict: ${plural(cost, "pass", "passes")}`;
      const bars = banks.map((words, bank) => {
        const fill = create("i");
        fill.style.height = `${degree ? (100 * words) / degree : 0}%`;
        return create("div", { title: `bank ${bank}: ${plural(words, "word")}` }, create("div", { className: "bar" + (words > 1 && bad ? " conflict" : "") }, fill), create("small", { textContent: bank % 4 ? "" : bank }));
      });
      const drawn = create("div", { className: "banks" }, ...bars);
      const busiest = create("p", { className: "results", textContent: bad ? `bank ${banks.indexOf(degree)}: ${plural(degree, "different word")}` : "" });
      drawn.setAttribute("role", "img");
      drawn.setAttribute("aria-label", `words requested from each of 32 banks: ${banks.join(" ")}`);
      return [heading, create("p", { className: "cost " + (bad ? "bad" : "good"), textContent: text }), drawn, busiest, this.addresses(lanes, addresses)];
    }
    const used = new Map();
    addresses.forEach((address) => {
      for (let at = address; at < address + size; at += Math.min(size, 4)) {
        const sector = Math.floor(at / 32);
        used.set(sector, (used.get(sector) || new Set()).add(at));
      }
    });
    const squares = [...used].map(([sector, bytes]) => {
      const square = create("i", { title: `sector at ${hex(sector * 32)}` });
      square.style.setProperty("--used", `${Math.min(100, (bytes.size * Math.min(size, 4) * 100) / 32)}%`);
      return square;
    });
    const drawn = create("div", { className: "sectors" }, ...squares);
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", `${squares.length} sectors, filled as far as their bytes are used`);
    const text = `${plural(cost, "sector")}${bad ? ` where ${least} would do` : ", as few as possible"}`;
    return [heading, create("p", { className: "cost " + (bad ? "bad" : "good"), textContent: text }), ...(space === "global" ? [drawn] : []), this.addresses(lanes, addresses)];
  }
  addresses(lanes, addresses) {
    const chosen = lanes.indexOf(this.view.lane);
    const step = addresses.length > 2 && addresses.every((a, i) => i === 0 || a - addresses[i - 1] === addresses[1] - addresses[0]) ? `, ${addresses[1] - addresses[0]} bytes apart` : "";
    const ends = chosen >= 0 ? `lane ${this.view.lane} at ${hex(addresses[chosen])}` : `lane ${lanes[0]} at ${hex(addresses[0])}, lane ${lanes.at(-1)} at ${hex(addresses.at(-1))}${step}`;
    return create("p", { className: "results", textContent: ends });
  }
  showWarps(i) {
    $(".warps", this.root).replaceChildren(...this.film.statesAt(i).map(({ state, place }, warp) => {
      const where = state === "waits" && place ? ` line ${place.line}` : "";
      const cell = create("div", { className: `cell ${state === "runs" ? "on" : state}`, textContent: `w${warp} ${state}${where}` });
      cell.addEventListener("click", () => player.follow(warp));
      return cell;
    }));
  }
  showFindings(i) {
    const found = this.film.found.get(i);
    const box = $(".findings", this.root);
    box.hidden = !found;
    if (found) box.textContent = found.map(([title, rows]) => `${title}: ${rows.map(([head, what]) => `${head} ${what}`).join("; ")}`).join(" — ");
  }
  showLane(i) {
    const { lane } = this.view;
    const [warp] = this.film.steps[i];
    const shown = lane !== null && bit(this.film.present[warp], lane);
    $(".lane-heading", this.root).hidden = !shown;
    const list = shown ? [...this.film.registers(i, warp, lane)] : [];
    $(".lane-heading", this.root).textContent = `registers of lane ${lane} (thread ${warp * WARP + (lane || 0)})`;
    $(".registers", this.root).replaceChildren(...list.map(([name, value]) => create("div", { textContent: `${name} = ${value}` })));
  }
}

function mark(lines, at) {
  lines?.forEach((line, i) => line.classList.toggle("here", i === at));
  if (!lines?.[at]) return;
  const box = lines[at].parentElement;
  const top = lines[at].offsetTop - box.offsetTop;
  if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = top - box.clientHeight / 2;
  for (const line of lines) line.removeAttribute("aria-current");
  lines[at].setAttribute("aria-current", "step");
}

function ranges(mask) {
  const text = [];
  for (let lane = 0; lane < WARP; ++lane) {
    if (!bit(mask, lane)) continue;
    let last = lane;
    while (last + 1 < WARP && bit(mask, last + 1)) ++last;
    text.push(last === lane ? `${lane}` : `${lane}–${last}`);
    lane = last;
  }
  return text.join(", ");
}

// ---- The player ----------------------------------------------------------------------------------------------------------------

class Player {
  constructor(data) {
    this.films = data.films.map((kept) => new Film(kept, data.sources));
    this.view = { warp: null, lane: null };
    const options = () => this.films.map((film, i) => create("option", { value: i, textContent: film.label }));
    $("#film").append(...options());
    $("#other").append(create("option", { value: "", textContent: "nothing" }), ...options());
    $("#film").addEventListener("change", () => this.open(+$("#film").value));
    $("#other").addEventListener("change", () => this.compare($("#other").value));
    $("#only").addEventListener("change", () => this.follow($("#only").value === "" ? null : +$("#only").value));
    $("#back").addEventListener("click", () => this.move(-1));
    $("#next").addEventListener("click", () => this.move(1));
    $("#play").addEventListener("click", () => this.play());
    $("#help-button").addEventListener("click", () => this.help());
    $("#search").addEventListener("input", () => this.search($("#search").value));
    $("#search").addEventListener("keydown", (event) => { if (event.key === "Enter") this.goToHit(); });
    this.scrubber = $("#scrubber");
    const scrub = (event) => {
      const box = this.scrubber.getBoundingClientRect();
      this.show(Math.min(this.steps.length - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * this.steps.length))));
    };
    this.scrubber.addEventListener("pointerdown", (event) => { this.scrubber.setPointerCapture(event.pointerId); scrub(event); });
    this.scrubber.addEventListener("pointermove", (event) => { if (event.buttons) scrub(event); });
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("hashchange", () => this.fromAddress());
    this.fromAddress();
  }
  get film() { return this.pane.film; }
  get steps() { return this.film.steps; }
  fromAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    if (this.pane && address.toString() === this.address) return;
    const index = Math.max(0, this.films.findIndex((film) => film.label === address.get("film")));
    const warp = address.has("warp") ? +address.get("warp") : null;
    this.view.lane = address.has("lane") ? +address.get("lane") : null;
    this.open(index, Math.max(0, (+address.get("step") || 1) - 1), warp !== null && warp < this.films[index].warps ? warp : null);
    const other = this.films.findIndex((film) => film.label === address.get("with"));
    if (other >= 0) this.compare(`${other}`);
  }
  open(index, step = 0, warp = null) {
    $("#film").value = index;
    this.pane = new Pane(this.films[index], this.view);
    this.view.warp = warp;
    const all = create("option", { value: "", textContent: "all" });
    $("#only").replaceChildren(all, ...Array.from({ length: this.film.warps }, (_, i) => create("option", { value: i, textContent: i })));
    $("#only").value = warp ?? "";
    step = Math.min(step, this.steps.length - 1);
    const own = (at) => warp === null || this.steps[at][0] === warp;
    const next = own(step) ? step : this.film.after(step, (_, at) => own(at));
    this.compare($("#other").value, next >= 0 ? next : Math.max(0, this.film.before(step, (_, at) => own(at))));
  }
  compare(value, step = this.at) {
    $("#other").value = value;
    this.other = value === "" ? null : new Pane(this.films[+value], this.view);
    $("#panes").replaceChildren(...[this.pane, this.other].filter(Boolean).map((pane) => pane.root));
    this.show(Math.min(step, this.steps.length - 1));
  }
  // In the other film, the step of the same warp that is of the same kind at the same source line, for the same time; else the step as far
  // along.
  counterpart(i) {
    const [warp, statement] = this.steps[i];
    const place = this.film.places[statement];
    const { kind } = STATEMENT;
    const wanted = this.film.statements[statement][kind];
    const same = (film) => (step) => step[0] === warp && place && film.places[step[1]]?.line === place.line &&
      film.places[step[1]].file === place.file && film.statements[step[1]][kind] === wanted;
    const time = this.steps.slice(0, i + 1).filter(same(this.film)).length;
    let seen = 0;
    const found = this.other.film.steps.findIndex((step) => same(this.other.film)(step) && ++seen === time);
    return found >= 0 ? found : Math.floor((i * (this.other.film.steps.length - 1)) / Math.max(1, this.steps.length - 1));
  }
  show(i) {
    this.at = i;
    this.pane.show(i);
    if (this.other) this.other.show(this.counterpart(i));
    $("#position").textContent = `step ${i + 1} of ${this.steps.length}`;
    const address = new URLSearchParams({ film: this.film.label, step: i + 1 });
    if (this.view.warp !== null) address.set("warp", this.view.warp);
    if (this.view.lane !== null) address.set("lane", this.view.lane);
    if (this.other) address.set("with", this.other.film.label);
    this.address = address.toString();
    if (location.protocol !== "about:") history.replaceState(null, "", "#" + this.address); // a page in a notebook has no address
    this.draw();
  }
  wanted() {
    const { warp, lane } = this.view;
    return (step) => (warp === null || step[0] === warp) && (lane === null || bit(step[2], lane));
  }
  move(by, wanted = this.wanted()) {
    const i = by < 0 ? this.film.before(this.at, wanted) : this.film.after(this.at, wanted);
    if (i >= 0) this.show(i);
    return i >= 0;
  }
  follow(warp) {
    this.view.warp = warp;
    $("#only").value = warp ?? "";
    if (!this.wanted()(this.steps[this.at])) { if (!this.move(1)) this.move(-1); }
    this.show(this.at);
  }
  choose(lane) {
    this.view.lane = this.view.lane === lane ? null : lane;
    this.show(this.at);
  }
  play() {
    if (this.timer) {
      clearInterval(this.timer);
      this.timer = null;
    } else {
      this.timer = setInterval(() => { if (!this.move(1)) this.play(); }, PLAY_MS);
    }
    $("#play").textContent = this.timer ? "■" : "▶▶";
    $("#play").setAttribute("aria-label", this.timer ? "stop" : "play");
  }
  help() {
    $("#help").hidden = !$("#help").hidden;
    $("#help-button").setAttribute("aria-expanded", !$("#help").hidden);
  }
  search(text) {
    const has = (line) => text !== "" && line.textContent.toLowerCase().includes(text.toLowerCase());
    this.hits = [];
    for (const pane of [this.pane, this.other].filter(Boolean)) {
      for (const line of [...(pane.source || []), ...pane.ptx]) {
        line.classList.toggle("hit", has(line));
        if (has(line) && pane === this.pane) this.hits.push(line);
      }
    }
    $("#found").textContent = text === "" ? "" : plural(this.hits.length, "line");
  }
  // Enter in the search: the next step at a line that was found.
  goToHit() {
    const hits = new Set(this.hits);
    const at = (step) => hits.has(this.pane.ptx[step[1]]) || hits.has(this.pane.source?.[(this.film.places[step[1]]?.line ?? 0) - 1]);
    this.pane.goTo(at);
  }
  key(event) {
    const typing = event.target.matches("input, select");
    if (event.key === "Escape") {
      if (typing) event.target.blur();
      else if (this.view.lane !== null) this.choose(this.view.lane);
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const warp = this.steps[this.at][0];
    const costly = (_, i) => this.film.excess[i] > 0 || this.film.found.has(i);
    const sameWarp = (step) => step[0] === warp;
    const keys = {
      ArrowLeft: () => this.move(-1, event.shiftKey ? sameWarp : this.wanted()),
      ArrowRight: () => this.move(1, event.shiftKey ? sameWarp : this.wanted()),
      ArrowUp: () => this.move(-1, costly),
      ArrowDown: () => this.move(1, costly),
      Home: () => this.show(0),
      End: () => this.show(this.steps.length - 1),
      " ": () => event.target.matches("button") || this.play(),
      "/": () => $("#search").focus(),
      "?": () => this.help(),
    };
    if (!keys[event.key]) return;
    if (event.key !== " " || !event.target.matches("button")) event.preventDefault();
    keys[event.key]();
  }
  // A column for each step, as high as what it costs; findings have flags.
  draw() {
    const { scrubber: canvas } = this;
    const scale = devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * scale;
    canvas.height = canvas.clientHeight * scale;
    const paint = canvas.getContext("2d");
    const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
    const width = canvas.width / this.steps.length;
    const highest = Math.max(WARP, ...this.film.costs); // the same scale for all kernels that have no worse request
    const room = canvas.height - 12 * scale;
    this.steps.forEach((step, i) => {
      const height = Math.max(2 * scale, (room * this.film.costs[i]) / highest);
      paint.fillStyle = color(this.film.excess[i] > 0 ? "--bad" : this.film.costs[i] ? "--on" : "--line");
      if (this.view.warp !== null && step[0] !== this.view.warp) paint.fillStyle = color("--cell");
      paint.fillRect(i * width, canvas.height - height, Math.max(1, width * 0.9), height);
    });
    paint.fillStyle = color("--bad");
    for (const step of this.film.found.keys()) {
      paint.beginPath();
      paint.moveTo(step * width, 0);
      paint.lineTo(step * width + 8 * scale, 4 * scale);
      paint.lineTo(step * width, 8 * scale);
      paint.fill();
      paint.fillRect(step * width, 0, scale, canvas.height);
    }
    paint.fillStyle = color("--ink");
    paint.fillRect(this.at * width - scale, 0, 2 * scale, canvas.height);
    canvas.setAttribute("aria-valuemax", this.steps.length);
    canvas.setAttribute("aria-valuenow", this.at + 1);
    canvas.setAttribute("aria-valuetext", $("#position").textContent);
  }
}

let player;
unpack().then((data) => {
  player = new Player(data);
  document.body.dataset.ready = "yes";
});
