# SPDX-License-Identifier: Apache-2.0
"""Files of samples, their pages of flame graphs, and what a person does with such a page."""
import collections
import json
import subprocess

import harness

TOOL = harness.ROOT / "tools/perf-vms"
HUGE = (1 << 60) + 1  # which a double rounds

# VM, vcpu, event, mode, masked, events, frames from the outermost; how many of them.
STACKS = (
    ("alpha", 0, "cycles", "kernel", False, 1000, ("0x100", "0x200", "0x300"), 40),
    ("alpha", 0, "cycles", "kernel", True, 1000, ("0x100", "0x200"), 30),
    ("alpha", 1, "cycles", "kernel", True, 1000, ("0x100", "0x300"), 20),
    ("alpha", 1, "cycles", "user", False, 1000, ("0x300",), 60),
    ("alpha", 1, "instructions:u", "user", False, HUGE, ("0x400", "0x300"), 7),
    ("beta", 0, "cycles", "kernel", False, 1000, ("0x200", "0x100", "0x200", "0x300"), 50),
)
HEAD = {"tally-samples": 1, "vms": ["alpha", "beta"], "events": ["cycles", "instructions:u"],
        "period": "1000"}
ENDS = (
    ("alpha", 0, "cycles", 70, 0, 0, 0, []), ("alpha", 1, "cycles", 80, 3, 2, 0, []),
    ("beta", 0, "cycles", 52, 0, 0, 250000000, ["the guest needed that counter"]),
)


NAMELESS = ("no names of the kernel of alpha, beta: give --symbols [VM=]FILE, its Image, vmlinux "
            "or System.map")


def end(vm, vcpu, event, n, lost, late, unsampled, reasons):
    return {"type": "end", "vm": vm, "vcpu": vcpu, "event": event, "count": n * 1000 + 17,
            "samples": n, "lost": lost, "late": late, "ns": 750000000, "unsampled_ns": unsampled,
            "reasons": reasons, "lcofi_hs_instructions": 1}


def sample(vm, vcpu, event, mode, masked, period, frames):
    return {"type": "sample", "timestamp": 1000, "vm": vm, "vcpu": vcpu, "event": event, "hart": 0,
            "period": period, "mode": mode, "masked": masked, "ip": frames[-1],
            "satp": f"{0x8000 + vcpu:#x}", "callchain": list(reversed(frames[:-1]))}


def objects():
    return [HEAD, *(sample(*stack[:-1]) for stack in STACKS for _ in range(stack[-1])),
            *(end(*words) for words in ENDS)]


def write(path, found):
    path.write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")
    return path


def call(*words):
    return subprocess.run([TOOL, *words], capture_output=True, text=True, check=False)


def make(folder, found):
    """The page of a file of samples."""
    file = write(folder / "some.samples", found)
    done = call("html", file, "-o", folder / "page.html")
    assert done.returncode == 0, done.stderr
    return folder / "page.html"


BARS = """chart.bars.map(({node, element}) => {
  const path = [], box = element.getBoundingClientRect(), style = getComputedStyle(element);
  for (let each = node; each.parent; each = each.parent) path.unshift(each.name);
  return {path: path.join(";"), name: node.name, events: element.dataset.events, depth: node.depth,
          samples: Number(element.dataset.samples), text: element.textContent, left: box.left,
          right: box.right, top: box.top, bottom: box.bottom, font: parseFloat(style.fontSize),
          fore: style.color, back: style.backgroundColor, found: element.matches(".match"),
          shown: element.getClientRects().length};
})"""


def sums(event, vm=None):
    """{path of a bar: (samples, events)}, of the samples themselves."""
    found = collections.defaultdict(lambda: [0, 0])
    for own, _, of, mode, _, period, frames, n in STACKS:
        if of != event or vm not in (None, own):
            continue
        path = ([] if vm else [own]) + [f"[{mode}]", *frames]
        for depth in range(len(path) + 1):
            both = found[";".join(path[:depth])]
            both[0] += n
            both[1] += n * period
    return {path: tuple(both) for path, both in found.items()}


def shown(chromium):
    return {bar["path"]: (bar["samples"], int(bar["events"])) for bar in chromium.run(BARS)}


def choose(chromium, vm=None, event=None):
    """As a person does: a click; and a key on the list of events."""
    if vm is not None:
        press(chromium, f"document.querySelector('[data-vm=\"{vm}\"]')")
    if event is not None:
        chromium.run("document.getElementById('event').focus()")
        for letter in event:
            chromium.key(letter)


def press(chromium, element):
    box = chromium.run(f"""(() => {{ const e = {element};
        if (!e.matches("#details *")) e.scrollIntoView({{block: "center"}});
        const b = e.getBoundingClientRect();
        return [b.x + b.width / 2, b.y + b.height / 2]; }})()""")
    chromium.click(*box)


def bar(path):
    return f"chart.bars.find((bar) => {BARS_PATH}(bar.node) === {json.dumps(path)}).element"


BARS_PATH = """((node) => { const path = [];
  for (; node.parent; node = node.parent) path.unshift(node.name); return path.join(";"); })"""


def text(chromium, name):
    return chromium.run(f"document.getElementById('{name}').innerText")


def table(chromium, name):
    """The cells of its rows."""
    return chromium.run(f"[...document.getElementById('{name}').tBodies[0].rows].map((row) => "
                        "[...row.cells].map((cell) => cell.textContent))")
