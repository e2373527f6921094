// SPDX-License-Identifier: Apache-2.0
// Numbers as text, and elements that hold text. Names come from guests: they are only ever text.

const digits = (n) => n.toLocaleString("en-US");

const plural = (n, one, many) => digits(n) + " " + (n === 1 || n === 1n ? one : many);

// A part of a whole, both BigInts; rounded to the second place.
function percent(part, whole) {
    if (whole === 0n) {
        return "none";
    }
    const hundredths = (part * 20000n + whole) / (2n * whole);
    return Number(hundredths) / 100 < 0.01 && part > 0n ? "< 0.01 %" :
        (Number(hundredths) / 100).toFixed(2) + " %";
}

// A difference of shares, in hundredths of a percent.
const points = (change) => (change < 0 ? "\u2212" : "+") + (Math.abs(change) / 100).toFixed(2) +
    " points";

const seconds = (ns) => (Number(BigInt(ns) / 1000n) / 1e6).toFixed(6) + " s";

// "1000hz" or a number of events.
const periodText = (period) => period.endsWith("hz") ?
    digits(Number(period.slice(0, -2))) + " times in a second of a vcpu's own time" :
    "one for each " + digits(BigInt(period)) + " events";

function make(tag, text, attributes) {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [name, value] of Object.entries(attributes || {})) {
        element.setAttribute(name, value);
    }
    return element;
}

// A little of a name, for what shows only its beginning.
const LABEL = 300;
const label = (name) => name.length > LABEL ? name.slice(0, LABEL) + "\u2026" : name;

// A bar by its name; one that is no function, "[kernel]" say, also by what it is of.
function titleOf(node) {
    const names = [node.name];
    for (let of = node.parent; node.kind === PLAIN && of && of.parent; of = of.parent) {
        names.unshift(of.name);
    }
    return label(names.join(", "));
}
