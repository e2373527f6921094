// SPDX-License-Identifier: Apache-2.0
// Reads a trace by a library that is not ours, and prints what that understands of it: its
// processes, and their threads, each with its events. Used by test_tally_trace.py.
"use strict";
const fs = require("fs");
const { buildModel } = require("@tracerbench/trace-model");

const model = buildModel(JSON.parse(fs.readFileSync(process.argv[2], "utf8")));
const event = (one) => ({
  ph: one.ph, cat: one.cat, name: one.name, start: one.start, end: one.end, args: one.args,
  parent: one.parent ? one.parent.name : null,
});
console.log(JSON.stringify(model.processes.map((process) => ({
  name: process.name,
  threads: process.threads.map((thread) => ({
    name: thread.name, events: thread.events.map(event),
  })),
}))));
