// SPDX-License-Identifier: Apache-2.0
// What is around the flame graph: what to show, what was found, and what the numbers are.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (name) => document.getElementById(name);
const FEW = 20; // functions that are listed at first

let vm = -1, e = 0, root = null, listed = FEW;
const all = buildTree(data, -1, new Set());
const split = new Set();
const chart = new Chart(byId("chart"), {look: showDetails, zoomed});

function showSummary() {
    const total = data.ends.reduce((sum, end) => sum + end.arrived, 0);
    const of = data.vms.length === 1 ? "VM " : "VMs ";
    document.title = "Profile of " + data.vms.join(", ");
    byId("summary").textContent = `${of}${data.vms.join(", ")}: ` +
        `${plural(total, "sample", "samples")} of ${data.events.join(", ")}, ` +
        `${periodText(data.period)}, in ${seconds(BigInt(data.last_ns) - BigInt(data.first_ns))} ` +
        `of the machine's time, from ${data.file}.` +
        (data.before ? ` Compared with ${data.before_file}.` : "");
    document.body.classList.toggle("compared", Boolean(data.before));
}

// In one line at the top, what the bars leave out; the table below has it for each vcpu.
function showMissing() {
    const sum = (of) => data.ends.reduce((n, end) => n + (of(end) || 0), 0);
    const lost = sum((end) => end.lost), late = sum((end) => end.late);
    const gone = sum((end) => end.ended ? end.samples - end.arrived : 0);
    const gaps = data.ends.filter((end) => end.ended && end.reasons.length).length;
    const open = data.ends.filter((end) => !end.ended).length;
    const words = [];
    if (lost) {
        words.push(plural(lost, "sample was", "samples were") + " lost");
    }
    if (late) {
        words.push(plural(late, "period was", "periods were") + " sampled late");
    }
    if (gone) {
        words.push(plural(gone, "sample", "samples") + " did not arrive");
    }
    if (gaps) {
        words.push("for a while nothing was sampled (" + plural(gaps, "row", "rows") +
                   " of the table below)");
    }
    if (open || !data.ends.length) {
        words.push("the recording has no end, so what it misses is not known");
    }
    byId("missing").hidden = !words.length && !data.complaints.length;
    byId("missing").textContent =
        [...data.complaints, ...words.length ? ["Not complete: " + words.join("; ")] : []]
            .map((text) => text[0].toUpperCase() + text.slice(1) + ".").join(" ");
}

function showChoices() {
    const names = data.vms.length > 1 ? [[-1, "all VMs"]] : [];
    data.vms.forEach((name, number) => names.push([number, name]));
    vm = names[0][0];
    for (const [number, name] of names) {
        const button = make("button", name, {type: "button", "data-vm": number});
        button.append(make("small", ""));
        button.addEventListener("click", () => {
            vm = number;
            rebuild();
        });
        byId("vms").append(button);
    }
    data.events.forEach((name, number) =>
        byId("event").append(make("option", name, {value: number})));
    byId("eventbox").hidden = data.events.length < 2;
    e = data.events.findIndex((_, number) =>
        data.stacks.some((stack) => stack[EVENT] === number));
    byId("event").value = e;
}

// Another VM, another event, or other splits.
function rebuild() {
    root = vm < 0 && !split.size ? all : buildTree(data, vm, split);
    for (const button of byId("vms").children) {
        const number = Number(button.dataset.vm);
        const of = number < 0 ? all : all.below.get(PLAIN + data.vms[number]);
        button.lastChild.textContent =
            of && of.samples[e] ? percent(of.events[e], all.events[e]) : "no sample";
        button.setAttribute("aria-pressed", String(number === vm));
    }
    listed = FEW;
    chart.show(root, e);
    showEnds();
}

function zoomed() {
    const {bars, events} = chart.narrow;
    byId("reset").disabled = chart.zoom === root;
    byId("narrow").textContent = !root.samples[e] ?
        `No sample of ${data.events[e]} in ${root.name}: the table below says why.` : bars ?
            `${plural(bars, "bar is", "bars are")} narrower than a pixel, and not drawn: in all ` +
            `${percent(events, chart.zoom.events[e])} of this width.` : "";
    showFound();
    showFunctions();
    showDetails(null);
}

// Returns whether what is typed can be searched for.
function search() {
    let matches = null, why = "";
    try {
        matches = matcher(byId("search").value);
    } catch (error) {
        why = "This is no regular expression.";
    }
    chart.search(matches);
    byId("search").setAttribute("aria-invalid", String(Boolean(why)));
    showFound(why);
}

function showFound(why) {
    byId("found").textContent = why || "";
    if (chart.matches) {
        const sum = sumOf(chart.zoom, e, chart.matches);
        byId("found").textContent = sum.bars ?
            `Found: ${percent(sum.events, chart.zoom.events[e])} of ${titleOf(chart.zoom)}, ` +
            `${plural(sum.samples, "sample", "samples")}, ` +
            `${plural(sum.events, "event", "events")}, in ${plural(sum.bars, "bar", "bars")}.` :
            `Not found in ${titleOf(chart.zoom)}.`;
    }
}

function shareCell(part, whole) {
    const cell = make("td", percent(part, whole), {title: digits(part) + " events"});
    const bar = cell.appendChild(make("span", "", {"class": "share"}));
    bar.style.width = whole ? Number(part * 1000n / whole) / 10 + "%" : "0";
    return cell;
}

function showFunctions() {
    const rows = functionsOf(chart.zoom, e), whole = chart.zoom.events[e];
    byId("functionstitle").textContent = "Functions of " + titleOf(chart.zoom);
    byId("functions").tBodies[0].replaceChildren(...rows.slice(0, listed).map((row) => {
        const line = make("tr", "");
        const name = make("button", row.name, {type: "button", title: "search"});
        name.addEventListener("click", () => {
            byId("search").value = row.name;
            search();
            byId("controls").scrollIntoView({block: "nearest"});
        });
        line.append(shareCell(row.own, whole), shareCell(row.events, whole));
        if (data.before) {
            line.append(make("td", points(changeOf(row.own, row.ownBefore, root, e))));
        }
        line.append(make("td", ""));
        line.lastChild.append(name);
        return line;
    }));
    byId("more").hidden = rows.length <= listed;
    byId("more").textContent = `More of ${digits(rows.length)}`;
}

function showDetails(node) {
    const of = node || chart.current;
    if (!root || !of) {
        return;
    }
    const words = [
        plural(of.samples[e], "sample", "samples"),
        `${digits(of.events[e])} ${data.events[e]}`,
        `${percent(of.events[e], root.events[e])} of ${titleOf(root)}`,
        `itself ${percent(of.own[e], root.events[e])} (${plural(of.ownSamples[e], "sample",
                                                                "samples")})`];
    if (data.before) {
        words.push(`${percent(of.before[e], root.before[e])} before: ` +
                   points(changeOf(of.events[e], of.before[e], root, e)));
    }
    if (of.masked[e]) {
        words.push(`interrupts off in ${percent(BigInt(of.masked[e]), BigInt(of.samples[e]))} ` +
                   "of its samples");
    }
    if (chart.zoom !== root && of.depth > chart.zoom.depth) {
        words.splice(3, 0, `${percent(of.events[e], chart.zoom.events[e])} of ` +
                           titleOf(chart.zoom));
    }
    data.events.forEach((name, other) => {
        if (other !== e && of.samples[other]) {
            words.push(`also ${digits(of.events[other])} ${name} (` +
                       `${plural(of.samples[other], "sample", "samples")})`);
        }
    });
    const list = make("ul", "");
    words.forEach((text) => list.append(make("li", text)));
    byId("details").replaceChildren(make("b", of.name), list);
}

function showEnds() {
    const rows = data.ends.filter((end) => vm < 0 || end.vm === data.vms[vm]);
    const titles = [...byId("ends").tHead.rows[0].cells].map((cell) => cell.textContent);
    byId("ends").tBodies[0].replaceChildren(...rows.map((end) => {
        const line = make("tr", "");
        const gone = end.ended ? end.samples - end.arrived : 0;
        const why = end.ended ? end.reasons.join("; ") : "the recording has no end";
        const cells = [
            end.vm + "/" + end.vcpu, end.event, end.ended ? digits(BigInt(end.count)) : "not known",
            digits(end.arrived) + (gone ? `, and ${digits(gone)} did not arrive` : ""),
            digits(end.lost), end.ended ? digits(end.late) : "not known",
            end.ended ? seconds(end.ns) : "not known",
            end.ended ? seconds(end.unsampled_ns) : "not known", why];
        const bad = [0, 0, 0, gone, end.lost, end.late, 0, end.reasons && end.reasons.length, 0];
        cells.forEach((text, n) => line.append(make("td", text, {
            "data-label": titles[n], "class": bad[n] ? "bad" : ""})));
        return line;
    }));
}

byId("event").addEventListener("change", () => {
    e = Number(byId("event").value);
    rebuild();
});
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("controls").addEventListener("change", (event) => {
    if (event.target.name === "split") {
        split[event.target.checked ? "add" : "delete"](event.target.value);
        rebuild();
    }
});
byId("search").addEventListener("input", search);
byId("reset").addEventListener("click", () => chart.zoomTo(root));
byId("more").addEventListener("click", () => {
    listed += 10 * FEW;
    showFunctions();
});
document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) {
        return;
    }
    if (document.activeElement === byId("search")) {
        if (event.key === "Enter") {
            chart.nextFound(event.shiftKey ? -1 : 1);
        } else if (event.key === "Escape") {
            byId("search").value = "";
            search();
            byId("chart").focus();
        }
    } else if (event.key === "/") {
        event.preventDefault();
        byId("search").focus();
    } else if (document.activeElement === byId("chart") && chart.key(event.key)) {
        event.preventDefault();
    }
});

if (data.before) {
    byId("functions").tHead.rows[0].lastChild.before(
        make("th", "Change", {title: "of Self, in points of all events of the graph"}));
}
showSummary();
showMissing();
showChoices();
rebuild();
