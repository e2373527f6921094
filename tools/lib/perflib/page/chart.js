// SPDX-License-Identifier: Apache-2.0
// The flame graph: a bar for each node of a tree that is wide enough to be seen.

const NARROWEST = 1; // pixels of a bar that is drawn
const LETTERS = 34; // pixels from which on it has its name

const isAddress = (name) => /^0x[0-9a-f]+$/.test(name);

// Hue, saturation and a difference of lightness: by the kind, and a little by the name, so that
// neighbours differ and a function has the same colour everywhere.
function colour(node) {
    let hash = 2166136261;
    for (const letter of node.name) {
        hash = Math.imul(hash ^ letter.codePointAt(0), 16777619) >>> 0;
    }
    const hue = (node.kind === USER ? 195 : 14) + hash % 30;
    const full = node.kind === USER ? 70 : 85;
    return [hue, isAddress(node.name) ? 22 : full, (hash >>> 8) % 7 - 3];
}

// The same of a comparison: red for more, blue for less, grey for no change; full from 5 points on.
const FULL = 500;

function changeColour(change) {
    return [change > 0 ? 8 : 212, Math.min(Math.abs(change) / FULL, 1) * 90, 0];
}

class Chart {
    // told.look(node): it is pointed at, or what is current is, for null; told.zoomed().
    constructor(element, told) {
        this.element = element;
        this.told = told;
        this.bars = []; // {node, element}, as drawn: row after row, from the left
        this.matches = null;
        element.addEventListener("click", (event) => this.act(event, (bar) => this.zoomTo(bar)));
        element.addEventListener("pointermove", (event) => this.act(event, told.look));
        element.addEventListener("pointerleave", () => told.look(null));
        element.addEventListener("focus", () => told.look(null));
        new ResizeObserver(() => this.resized()).observe(element);
    }

    act(event, what) {
        const bar = this.bars[event.target.dataset.bar];
        if (bar) {
            what(bar.node);
        }
    }

    resized() {
        if (this.element.clientWidth !== this.drawnWidth && this.root) {
            this.draw();
        }
    }

    show(root, e) {
        this.root = this.zoom = this.current = root;
        this.e = e;
        this.draw();
        this.told.zoomed();
    }

    search(matches) {
        this.matches = matches;
        for (const {node, element} of this.bars) {
            element.classList.toggle("match", Boolean(matches && matches(node)));
        }
    }

    zoomTo(node) {
        this.zoom = this.current = node;
        this.draw();
        this.told.zoomed();
        this.told.look(null);
    }

    select(node) {
        this.current = node;
        this.mark();
        this.told.look(null);
    }

    // Where the bars are, as parts of the width.
    place() {
        const rows = [];
        const put = (node, left, wide) => {
            (rows[node.depth] = rows[node.depth] || []).push({node, left, wide});
        };
        for (let node = this.zoom.parent; node; node = node.parent) {
            put(node, 0, 1);
        }
        const whole = Number(this.zoom.events[this.e]);
        const least = NARROWEST / Math.max(this.drawnWidth, 1);
        this.narrow = {bars: 0, events: 0n};
        const visit = (node, left) => {
            put(node, left, Number(node.events[this.e]) / whole);
            for (const next of ordered(node, this.e)) {
                const wide = Number(next.events[this.e]) / whole;
                if (wide >= least) {
                    visit(next, left);
                } else {
                    this.narrow.bars++;
                    this.narrow.events += next.events[this.e];
                }
                left += wide;
            }
        };
        if (whole) {
            visit(this.zoom, 0);
        }
        return rows;
    }

    draw() {
        this.drawnWidth = this.element.clientWidth;
        const rows = this.place();
        this.bars = rows.flat();
        const all = document.createDocumentFragment();
        this.bars.forEach((bar, number) => all.append(this.bar(bar, number)));
        this.element.style.height = `calc(var(--row) * ${rows.length})`;
        this.element.replaceChildren(all);
        if (!this.bars.some((bar) => bar.node === this.current)) {
            this.current = this.zoom;
        }
        this.mark();
    }

    bar(bar, number) {
        const {node, left, wide} = bar, e = this.e;
        const pixels = wide * this.drawnWidth;
        const share = percent(node.events[e], this.root.events[e]);
        const element = make("div", pixels < LETTERS ? "" : label(node.name), {
            "class": "frame", role: "treeitem", id: "bar" + number,
            "aria-level": node.depth + 1, "aria-selected": "false",
            "aria-label": label(node.name) + ", " + share, title: label(node.name) + "\n" + share,
        });
        Object.assign(element.dataset, {bar: number, depth: node.depth,
                                        events: node.events[e], samples: node.samples[e]});
        element.classList.toggle("slim", pixels < LETTERS);
        element.classList.toggle("plain", node.kind === PLAIN);
        element.classList.toggle("above", node.depth < this.zoom.depth);
        element.classList.toggle("match", Boolean(this.matches && this.matches(node)));
        const [hue, full, light] = data.before ?
            changeColour(changeOf(node.events[e], node.before[e], this.root, e)) : colour(node);
        for (const [name, value] of [
            // Of the width that it has on paper, too, which no script is told.
            ["left", 100 * left + "%"], ["width", `max(${100 * wide}% - 1px, 0.7px)`],
            ["top", `calc(var(--row) * ${node.depth})`], ["--h", hue], ["--s", full + "%"],
            ["--d", light + "%"], ["--off", 100 * node.masked[e] / node.samples[e] + "%"]]) {
            element.style.setProperty(name, value);
        }
        bar.element = element;
        return element;
    }

    mark() {
        for (const {node, element} of this.bars) {
            element.classList.toggle("current", node === this.current);
            element.setAttribute("aria-selected", String(node === this.current));
            if (node === this.current) {
                this.element.setAttribute("aria-activedescendant", element.id);
            }
        }
    }

    scroll() {
        const bar = this.bars.find((each) => each.node === this.current);
        bar.element.scrollIntoView({block: "nearest"});
    }

    // Of the next or last bar that was found.
    nextFound(step) {
        const hits = this.bars.filter((bar) => this.matches && this.matches(bar.node));
        if (hits.length) {
            const at = hits.findIndex((bar) => bar.node === this.current);
            const next = at < 0 ? (step > 0 ? 0 : hits.length - 1) : at + step;
            this.select(hits[(next + hits.length) % hits.length].node);
            this.scroll();
        }
    }

    // A key with the chart in focus; says whether it was one.
    key(name) {
        const drawn = new Set(this.bars.map((bar) => bar.node));
        const row = this.bars.filter((bar) => bar.node.depth === this.current.depth);
        const at = row.findIndex((bar) => bar.node === this.current);
        const next = {
            ArrowUp: () => this.current.parent,
            ArrowDown: () => drawn.has(this.zoom) && this.current.depth < this.zoom.depth ?
                this.bars.find((bar) => bar.node.depth === this.current.depth + 1).node :
                ordered(this.current, this.e).find((node) => drawn.has(node)),
            ArrowLeft: () => row[at - 1] && row[at - 1].node,
            ArrowRight: () => row[at + 1] && row[at + 1].node,
            Home: () => this.root,
        }[name];
        if (next) {
            this.select(next() || this.current);
            this.scroll();
        } else if (name === "Enter" || name === " ") {
            this.zoomTo(this.current);
        } else if (name === "Escape") {
            this.zoomTo(this.zoom.parent || this.root);
        } else {
            return false;
        }
        return true;
    }
}
