// SPDX-License-Identifier: Apache-2.0
// The samples as a tree of who called whom. Events are BigInts: their sums are exact.
"use strict";

const PLAIN = 0, KERNEL = 1, USER = 2; // what a bar is: a VM, a vcpu or a mode; a function

// A row of data.stacks; html.py writes them.
const VM = 0, VCPU = 1, EVENT = 2, IS_USER = 3, MASKED = 4, SPACE = 5, SAMPLES = 6, EVENTS = 7;
const FRAMES = 8;

// Arrays have an entry for each event of the file. own: of these, what nothing is below; masked:
// how many samples were taken while interrupts were off; before: events in another recording, with
// which this one is compared.
function newNode(data, name, kind, parent) {
    const zero = () => data.events.map(() => 0);
    const none = () => data.events.map(() => 0n);
    return {name, kind, parent, depth: parent ? parent.depth + 1 : 0, below: new Map(),
            events: none(), own: none(), samples: zero(), ownSamples: zero(), masked: zero(),
            before: none(), ownBefore: none()};
}

function child(data, node, name, kind) {
    const key = kind + name;
    let found = node.below.get(key);
    if (!found) {
        found = newNode(data, name, kind, node);
        node.below.set(key, found);
    }
    return found;
}

// The bars between the root and the frames of a stack.
function above(data, stack, vm, split) {
    const names = vm < 0 ? [data.vms[stack[VM]]] : [];
    if (split.has("vcpu")) {
        names.push("vcpu " + stack[VCPU]);
    }
    if (split.has("space")) {
        names.push("satp " + data.names[stack[SPACE]]);
    }
    names.push(stack[IS_USER] ? "[user]" : "[kernel]");
    if (split.has("masked") && !stack[IS_USER]) {
        names.push(stack[MASKED] ? "interrupts off" : "interrupts on");
    }
    return names;
}

// The bars of a stack, from the root on.
function pathOf(data, root, stack, vm, split) {
    const path = [root];
    let node = root;
    for (const name of above(data, stack, vm, split)) {
        path.push(node = child(data, node, name, PLAIN));
    }
    for (const name of stack.slice(FRAMES)) {
        path.push(node = child(data, node, data.names[name], stack[IS_USER] ? USER : KERNEL));
    }
    return path;
}

// Of a VM by its number, or of all: -1.
function buildTree(data, vm, split) {
    const root = newNode(data, vm < 0 ? "all VMs" : data.vms[vm], PLAIN, null);
    const ofVm = (stack) => vm < 0 || stack[VM] === vm;
    for (const stack of data.stacks.filter(ofVm)) {
        const path = pathOf(data, root, stack, vm, split), node = path[path.length - 1];
        const e = stack[EVENT], events = BigInt(stack[EVENTS]);
        for (const each of path) {
            each.events[e] += events;
            each.samples[e] += stack[SAMPLES];
            each.masked[e] += stack[MASKED] ? stack[SAMPLES] : 0;
        }
        node.own[e] += events;
        node.ownSamples[e] += stack[SAMPLES];
    }
    for (const stack of (data.before || []).filter(ofVm)) {
        const path = pathOf(data, root, stack, vm, split), e = stack[EVENT];
        path.forEach((each) => each.before[e] += BigInt(stack[EVENTS]));
        path[path.length - 1].ownBefore[e] += BigInt(stack[EVENTS]);
    }
    return root;
}

// By how many hundredths of a percent the share of a bar is greater than before.
function changeOf(now, before, root, e) {
    const share = (part, whole) => whole ? Number((2n * part * 10000n + whole) / (2n * whole)) : 0;
    return share(now, root.events[e]) - share(before, root.before[e]);
}

// What is below, the most events first.
function ordered(node, e) {
    return [...node.below.values()].filter((each) => each.samples[e] > 0).sort((a, b) =>
        a.events[e] < b.events[e] ? 1 : a.events[e] > b.events[e] ? -1 :
            a.name < b.name ? -1 : a.name > b.name ? 1 : a.kind - b.kind);
}

// A test of names; null if nothing is searched. Text between slashes is a regular expression.
function matcher(text) {
    const expression = /^\/(.+)\/$/s.exec(text);
    if (expression) {
        const found = new RegExp(expression[1], "i");
        return (node) => found.test(node.name);
    }
    const wanted = text.toLowerCase();
    return text === "" ? null : (node) => node.name.toLowerCase().includes(wanted);
}

// Sums over the bars that match and are below no other one that does, so nothing is there twice.
function sumOf(node, e, matches) {
    const sum = {events: 0n, samples: 0, bars: 0};
    const visit = (each, inside) => {
        const hit = matches(each);
        if (hit && !inside) {
            sum.events += each.events[e];
            sum.samples += each.samples[e];
        }
        sum.bars += hit && each.samples[e] > 0 ? 1 : 0;
        each.below.forEach((next) => visit(next, inside || hit));
    };
    visit(node, false);
    return sum;
}

// [{name, kind, own, ownBefore, events, samples}] of all functions at and below a bar, those first
// that executed most themselves. A function that called itself again is there once.
function functionsOf(node, e) {
    const found = new Map();
    const open = new Set();
    const visit = (each) => {
        const key = each.kind + each.name;
        const there = each.samples[e] > 0 || each.before[e] > 0n;
        const outer = each.kind !== PLAIN && there && !open.has(key);
        if (each.kind !== PLAIN && there) {
            const row = found.get(key) || {name: each.name, kind: each.kind, own: 0n, ownBefore: 0n,
                                           ownSamples: 0, events: 0n, samples: 0};
            row.own += each.own[e];
            row.ownBefore += each.ownBefore[e];
            row.ownSamples += each.ownSamples[e];
            row.events += outer ? each.events[e] : 0n;
            row.samples += outer ? each.samples[e] : 0;
            found.set(key, row);
        }
        if (outer) {
            open.add(key);
        }
        each.below.forEach(visit);
        if (outer) {
            open.delete(key);
        }
    };
    visit(node);
    return [...found.values()].sort((a, b) => a.own < b.own ? 1 : a.own > b.own ? -1 :
        a.events < b.events ? 1 : a.events > b.events ? -1 : a.name < b.name ? -1 : 1);
}
