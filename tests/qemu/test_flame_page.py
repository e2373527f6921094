# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms html: the page in a real browser, wide and narrow. Its numbers are the sums of the
file of samples, to the event, and names of guests are text in it, whatever they are."""
import collections
import json
import re
import subprocess
import sys

import pytest

import browser
import harness

sys.path.insert(0, str(harness.ROOT / "tools"))
from perflib import html, profile, samples

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


@pytest.fixture(scope="module", name="chromium")
def started(tmp_path_factory):
    one = browser.Browser(tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


@pytest.fixture(scope="module", name="path")
def made(tmp_path_factory):
    return make(tmp_path_factory.mktemp("page"), objects())


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
        const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()""")
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


def test_sums_are_exact(chromium, path):
    chromium.open(path, 1280)
    assert shown(chromium) == sums("cycles")
    for number, vm in enumerate(HEAD["vms"]):
        choose(chromium, vm=number)
        assert shown(chromium) == sums("cycles", vm)
    choose(chromium, vm=0, event="i")
    assert shown(chromium) == sums("instructions:u", "alpha")
    assert sums("instructions:u", "alpha")[""] == (7, 7 * HUGE)
    assert f"{7 * HUGE:,} instructions:u" in text(chromium, "details")
    choose(chromium, vm=1)
    assert "No sample of instructions:u in beta" in text(chromium, "narrow")
    assert chromium.errors == []


def test_widths_are_shares(chromium, path):
    """And a bar is where its caller is."""
    chromium.open(path, 1280)
    bars = {each["path"]: each for each in chromium.run(BARS)}
    root = bars[""]
    width, total = root["right"] - root["left"] + 1, int(root["events"])
    for name, each in bars.items():
        wide = each["right"] - each["left"] + 1
        assert abs(wide - width * int(each["events"]) / total) < 0.01, name
        above = bars[name.rpartition(";")[0]]
        assert above["left"] - 0.01 <= each["left"] <= each["right"] <= above["right"] + 0.01


def test_search(chromium, path):
    """What was found, once each; in the whole, and in what was enlarged."""
    chromium.open(path, 1280)
    chromium.key("/")
    chromium.type("0x200")
    # Once below itself in beta: counted at the outer one.
    assert text(chromium, "found") == ("Found: 60.00 % of all VMs, 120 samples, 120,000 events, "
                                       "in 3 bars.")
    assert {each["path"] for each in chromium.run(BARS) if each["found"]} == {
        path for path in sums("cycles") if path.endswith("0x200")}
    press(chromium, bar("alpha;[kernel]"))
    assert text(chromium, "found") == ("Found: 77.78 % of alpha, [kernel], 70 samples, "
                                       "70,000 events, in 1 bar.")
    chromium.run("document.getElementById('search').select()")
    chromium.type("/^0x[34]00$/")
    assert text(chromium, "found").startswith("Found: 66.67 % of alpha, [kernel], 60 samples, ")
    chromium.run("document.getElementById('search').select()")
    chromium.type("/(/")
    assert text(chromium, "found") == "This is no regular expression."
    chromium.key("Escape")
    assert text(chromium, "found") == ""
    assert not any(each["found"] for each in chromium.run(BARS))
    chromium.key("/")
    chromium.type("nowhere")
    assert text(chromium, "found") == "Not found in alpha, [kernel]."


def test_zoom_by_mouse_and_keys(chromium, path):
    chromium.open(path, 1280)
    width = chromium.run("chart.element.clientWidth")

    def zoom():
        bars = chromium.run(BARS)
        at = chromium.run(f"{BARS_PATH}(chart.zoom)")
        (own,) = [each for each in bars if each["path"] == at]
        assert abs(own["right"] - own["left"] + 1 - width) < 0.01
        # Only what is below and above it is there.
        assert all(each["path"].startswith(at) or at.startswith(each["path"]) for each in bars)
        return at

    press(chromium, bar("alpha;[kernel];0x100"))
    assert zoom() == "alpha;[kernel];0x100"
    assert "90 samples" in text(chromium, "details")
    press(chromium, bar("alpha"))
    assert zoom() == "alpha"
    press(chromium, "document.getElementById('reset')")
    assert zoom() == ""
    chromium.run("document.getElementById('chart').focus()")
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown", "Enter"):
        chromium.key(key)
    assert zoom() == "beta;[kernel];0x200"
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "Enter"):
        chromium.key(key)
    assert zoom() == "beta;[kernel];0x200;0x100"
    chromium.key("Escape")
    assert zoom() == "beta;[kernel];0x200"
    chromium.key("Home")
    chromium.key("Enter")
    assert zoom() == ""


def test_details(chromium, path):
    """Where the mouse is; and where it is not any more, what was chosen."""
    chromium.open(path, 1280)
    x, y = chromium.run("(() => { const b = %s.getBoundingClientRect();"
                        "return [b.x + 3, b.y + 3]; })()" % bar("alpha;[kernel];0x100;0x200"))
    chromium.mouse("mouseMoved", x, y)
    assert text(chromium, "details").splitlines() == [
        "0x200", "70 samples", "70,000 cycles", "35.00 % of all VMs", "itself 15.00 % (30 samples)",
        "interrupts off in 42.86 % of its samples"]
    chromium.mouse("mouseMoved", 1, 1)
    assert text(chromium, "details").splitlines()[:2] == ["all VMs", "200 samples"]
    assert f"also {7 * HUGE:,} instructions:u (7 samples)" in text(chromium, "details")


def test_functions(chromium, path):
    """A function that is below itself counts once in its total."""
    chromium.open(path, 1280)
    assert table(chromium, "functions") == [
        ["55.00 %", "55.00 %", "0x300"], ["30.00 %", "30.00 %", "0x300"],
        ["15.00 %", "60.00 %", "0x200"], ["0.00 %", "70.00 %", "0x100"]]
    press(chromium, "[...document.querySelectorAll('#functions button')].pop()")
    assert text(chromium, "found").startswith("Found: 70.00 % of all VMs, 140 samples")


def test_splits(chromium, path):
    chromium.open(path, 1280)
    choose(chromium, vm=0)
    for value in ("masked", "vcpu", "space"):
        press(chromium, f"document.querySelector('[value=\"{value}\"]')")
    assert {name: n for name, (n, _) in shown(chromium).items() if name.count(";") == 3} == {
        "vcpu 0;satp 0x8000;[kernel];interrupts off": 30,
        "vcpu 0;satp 0x8000;[kernel];interrupts on": 40,
        "vcpu 1;satp 0x8001;[kernel];interrupts off": 20,
        "vcpu 1;satp 0x8001;[user];0x300": 60}


def test_what_is_missing_is_told(chromium, path, tmp_path):
    chromium.open(path, 1280)
    assert text(chromium, "summary") == (
        "VMs alpha, beta: 207 samples of cycles, instructions:u, one for each 1,000 events, "
        "in 0.000000 s of the machine's time, from some.samples.")
    assert text(chromium, "missing") == (
        "Not complete: 3 samples were lost; 2 periods were sampled late; 2 samples did not arrive; "
        "for a while nothing was sampled (1 row of the table below); the recording has no end, so "
        "what it misses is not known.")
    rows = table(chromium, "ends")
    assert rows[0] == ["alpha/0", "cycles", "70,017", "70", "0", "0", "0.750000 s", "0.000000 s",
                       ""]
    assert rows[2][:2] + rows[2][-1:] == ["alpha/1", "instructions:u", "the recording has no end"]
    assert rows[3] == ["beta/0", "cycles", "52,017", "50, and 2 did not arrive", "0", "0",
                       "0.750000 s", "0.250000 s", "the guest needed that counter"]
    whole = [HEAD | {"vms": ["alpha"], "period": "2000hz"}, sample(*STACKS[0][:-1]),
             end("alpha", 0, "cycles", 1, 0, 0, 0, [])]
    chromium.open(make(tmp_path, whole), 1280)
    assert text(chromium, "missing") == ""
    assert "2,000 times in a second of a vcpu's own time" in text(chromium, "summary")


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
             for part in parts]
    return sum(part * of for part, of in zip(parts, (0.2126, 0.7152, 0.0722)))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# What says something and is not above all else; whose parts are no other ones of these.
OTHERS = """[...document.querySelectorAll("h1, h2, p, #vms button, #controls label, #reset, td, th, " +
  "#more")].filter((e) => e.getClientRects().length && e.innerText.trim()).map((e) => {
    const box = e.getBoundingClientRect();
    return {text: e.innerText, left: box.left, right: box.right, top: box.top + scrollY,
            bottom: box.bottom + scrollY, font: parseFloat(getComputedStyle(e).fontSize),
            cut: e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline"};
})"""


def overlap(one, other):
    return (min(one["right"], other["right"]) - max(one["left"], other["left"]) > 0.5 and
            min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 0.5)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_legible(chromium, path, width, dark):
    """Nothing is beside the page, on something else, too small, or too pale."""
    chromium.open(path, width, dark=dark)
    chromium.key("/")
    chromium.type("0x200")
    assert chromium.run("document.documentElement.scrollWidth") == width
    bars, others = chromium.run(BARS), chromium.run(OTHERS)
    assert len(others) > 30
    for each in others:
        assert each["font"] >= 12 and not each["cut"], each
        assert 0 <= each["left"] and each["right"] <= width, each
    for rows in (bars, others):
        assert not [(one["text"], other["text"]) for n, one in enumerate(rows)
                    for other in rows[:n] if overlap(one, other)]
    named = [each for each in bars if each["text"]]
    assert len(named) > len(bars) / 2
    for each in bars:
        assert each["font"] >= 12
        assert bool(each["text"]) == (each["right"] - each["left"] > 25), each
    for each in named:
        assert contrast(each["fore"], each["back"]) >= 4.5, each
        assert each["bottom"] - each["top"] >= 20
    page = chromium.run("""(() => { const s = getComputedStyle(document.body);
                        return [s.color, s.backgroundColor]; })()""")
    assert contrast(*page) > 10
    assert (luminance(page[1]) < 0.1) == dark
    assert chromium.errors == []


HOSTILE = ["</script><script>window.bad=1</script>", "<b>bold</b>", "<!--", "\"'&amp;`",
           "<img src=x onerror=window.bad=1>", "x" * 5000, "\u202etfel-ot-thgir \u0661 \u8fd4",
           "\ud800 alone", "__proto__", "constructor", "a;b\nc\0d", "@DATA@", " ", "javascript:1"]


def test_hostile_names(chromium, tmp_path):
    """Of functions, VMs, events, files and reasons: text, and nothing but text."""
    vms = [*HOSTILE[:5], HOSTILE[8]]
    head = HEAD | {"vms": vms, "events": [HOSTILE[0]], "period": "1000"}
    found = [head] + [sample(vm, 0, HOSTILE[0], "kernel", False, 1000, (f"{n:#x}",))
                      for n in range(len(HOSTILE)) for vm in vms]
    found += [end(vm, 0, HOSTILE[0], 14, 0, 0, 5, [HOSTILE[4]]) for vm in vms]
    content = html.page(html.data(profile.Profile(found, lambda _, ip: HOSTILE[int(ip, 16)]),
                                  "</script><b>file"))
    page = tmp_path / "hostile.html"
    page.write_text(content, encoding="ascii")
    for width in (1280, 400):
        chromium.open(page, width)
        for number, vm in enumerate(vms):
            choose(chromium, vm=number)
            assert chromium.run("root.name") == vm
            bars = chromium.run(BARS)
            # What UTF-8 has no code for arrives as a replacement.
            names = {name.replace("\ud800", "\ufffd") for name in HOSTILE}
            assert {each["name"].replace("\ud800", "\ufffd") for each in bars
                    if each["depth"] == 2} == names
            for each in bars:
                assert each["name"].startswith(each["text"].removesuffix("\u2026"))
                assert each["samples"] == (len(HOSTILE) if each["depth"] < 2 else 1)
        assert chromium.run("document.documentElement.scrollWidth") == width
        press(chromium, "document.querySelector('#chart').lastChild")
        assert chromium.run("window.bad") is None
        assert chromium.run("document.querySelectorAll('img, script:not([type]), body > script')"
                            ".length") == 2
        assert chromium.run("document.querySelectorAll('b').length") == 1  # of the details
        assert chromium.requests == [page.as_uri()]
        assert chromium.errors == []


def test_needs_nothing_else(chromium, path):
    """No reference to anything, and what is not the page's own is not run."""
    content = path.read_text(encoding="ascii")
    assert not re.search(r"https?:|//[a-z]+\.|\bsrc=|url\(|@import|fetch\(|XMLHttp|WebSocket",
                         content)
    chromium.open(path, 1280)
    assert chromium.requests == [path.as_uri()]
    chromium.run("(() => { const s = document.createElement('script'); s.textContent = "
                 "'window.bad = 1'; document.body.append(s); })()")
    assert chromium.run("window.bad") is None
    assert chromium.run("performance.getEntriesByType('resource').length") == 0


def test_a_file_without_samples(tmp_path):
    file = write(tmp_path / "none", [HEAD, *(end(*words) for words in ENDS[2:])])
    for words in (("html", file, "-o", tmp_path / "page"), ("speedscope", file)):
        done = call(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (f"tools/perf-vms: {file}: has no sample; beta/0: no cycles: "
                               "the guest needed that counter\n")
    assert not (tmp_path / "page").exists()


@pytest.mark.parametrize("wrong, why", [
    ({"type": "sample"}, "line 2: a sample without a proper \"timestamp\""),
    ({"type": "other"}, "line 2: is no sample"), ([], "line 2: is no sample"),
    (sample(*STACKS[0][:-1]) | {"period": -1}, "without a proper \"period\""),
    (sample(*STACKS[0][:-1]) | {"vcpu": True}, "without a proper \"vcpu\""),
    (sample(*STACKS[0][:-1]) | {"vm": "other"}, "that line 1 does not name"),
    (sample(*STACKS[0][:-1]) | {"ip": "main"}, "line 2: an address that is none"),
    (sample(*STACKS[0][:-1]) | {"callchain": [5]}, "line 2: an address that is none"),
    (end(*ENDS[0]) | {"reasons": [None]}, "line 2: a reason that is no text"),
])
def test_a_file_that_is_wrong(tmp_path, wrong, why):
    file = write(tmp_path / "wrong", [HEAD, wrong])
    done = call("html", file, "-o", tmp_path / "page")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"tools/perf-vms: {file}: ") and why in done.stderr
    assert not (tmp_path / "page").exists()


def test_no_file_of_samples(tmp_path):
    for content in (b"", b"{}\n", b"\xff\n", b"[[[\n", b'{"tally-samples": 1}\n'):
        (tmp_path / "file").write_bytes(content)
        done = call("html", tmp_path / "file", "-o", tmp_path / "page")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done
    done = call("html", tmp_path / "not there", "-o", tmp_path / "page")
    assert done.returncode == 2 and "No such file" in done.stderr
    with pytest.raises(samples.BadSamples):
        profile.Profile([{"vms": [5], "events": []}])


def test_speedscope(tmp_path):
    """Each VM's and event's sums, in that program's format."""
    file = write(tmp_path / "file", objects())
    done = call("speedscope", file)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    names = [frame["name"] for frame in found["shared"]["frames"]]
    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert [each["name"] for each in found["profiles"]] == [
        "alpha: cycles", "alpha: instructions:u", "beta: cycles"]
    for each in found["profiles"]:
        vm, event = each["name"].split(": ")
        got = collections.Counter()
        for stack, weight in zip(each["samples"], each["weights"], strict=True):
            got[tuple(names[n] for n in stack)] += weight
        wanted = collections.Counter()
        for own, vcpu, of, mode, _, period, frames, n in STACKS:
            if (own, of) == (vm, event):
                wanted[(f"vcpu {vcpu}", f"[{mode}]", *frames)] += n * period
        assert got == wanted
        assert (each["type"], each["unit"], each["startValue"]) == ("sampled", "none", 0)
        assert each["endValue"] == sum(each["weights"])
