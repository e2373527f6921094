# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms html: what the page shows and does, in a real browser. Its numbers are the sums of
the file of samples, to the event."""

import collections

import pytest

import bare_guests
import flames
import recordings


# Of the file of flames.py, in the first line.
SAID = f"N{flames.NAMELESS[1:]}."


@pytest.fixture(scope="module", name="path")
def made(tmp_path_factory):
    return flames.make(tmp_path_factory.mktemp("page"), flames.objects())


def test_sums_are_exact(chromium, path):
    chromium.open(path, 1280)
    assert flames.shown(chromium) == flames.sums("cycles")
    for number, vm in enumerate(flames.HEAD["vms"]):
        flames.choose(chromium, vm=number)
        assert flames.shown(chromium) == flames.sums("cycles", vm)
    flames.choose(chromium, vm=0, event="i")
    assert flames.shown(chromium) == flames.sums("instructions:u", "alpha")
    assert flames.sums("instructions:u", "alpha")[""] == (7, 7 * flames.HUGE)
    assert f"{7 * flames.HUGE:,} instructions:u" in flames.text(chromium, "details")
    flames.choose(chromium, vm=1)
    assert "No sample of instructions:u in beta" in flames.text(chromium, "narrow")
    assert chromium.errors == []


def test_two_guests(chromium, running, tmp_path):
    """As they were recorded: a graph for each and one for all, with all samples and callers."""
    run = running({"alpha": "kind=chain frames=3", "beta": bare_guests.FOREVER})
    run.read_until("chain: begins")
    file, page = tmp_path / "samples", tmp_path / "page.html"
    found, _ = recordings.record(run, file, "-g", "-c", "50000", "-e", "instructions:k", "--",
                                 *recordings.until(file, 20, "alpha", "beta"))
    # Addresses are compared, so what would give them names is taken out.
    del found[0]["images"]
    done = flames.call("html", flames.write(file, found), "-o", page)
    assert done.returncode == 0, done.stderr
    taken = [each for each in found if each.get("type") == "sample"]
    assert {each["vm"] for each in taken} == {"alpha", "beta"}
    assert any(len(each.get("callchain", ())) > 2 for each in taken)
    chromium.open(page, 1280)
    for vm in (None, "alpha", "beta"):
        if vm:
            flames.choose(chromium, vm=found[0]["vms"].index(vm))
        wanted = collections.Counter()
        for each in taken:
            path = [each["vm"], "[kernel]", *reversed(each.get("callchain", ())),
                    each["ip"]][bool(vm):]
            wanted.update(";".join(path[:depth]) for depth in range(len(path) + 1)
                          if vm in (None, each["vm"]))
        shown = flames.shown(chromium)
        assert all(n == wanted[path] for path, (n, _) in shown.items())
        assert set(shown) >= {path for path, n in wanted.items() if n >= 0.01 * wanted[""]}
        assert all(events == 50000 * n for n, events in shown.values())
    ends = [each for each in found if each.get("type") == "end"]
    flames.press(chromium, "document.querySelector('[data-vm=\"-1\"]')")
    assert [row[:4] for row in flames.table(chromium, "ends")] == [
        [f"{each['vm']}/0", "instructions:k", f"{each['count']:,}", f"{each['samples']:,}"]
        for each in ends]
    assert flames.text(chromium, "missing") == SAID


def test_widths_are_shares(chromium, path):
    """And a bar is where its caller is."""
    chromium.open(path, 1280)
    bars = {each["path"]: each for each in chromium.run(flames.BARS)}
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
    assert flames.text(chromium, "found") == (
        "Found: 60.00 % of all VMs, 120 samples, 120,000 events, in 3 bars.")
    assert {each["path"] for each in chromium.run(flames.BARS) if each["found"]} == {
        path for path in flames.sums("cycles") if path.endswith("0x200")}
    flames.press(chromium, flames.bar("alpha;[kernel]"))
    assert flames.text(chromium, "found") == (
        "Found: 77.78 % of alpha, [kernel], 70 samples, 70,000 events, in 1 bar.")
    chromium.run("document.getElementById('search').select()")
    chromium.type("/^0x[34]00$/")
    assert flames.text(chromium, "found").startswith(
        "Found: 66.67 % of alpha, [kernel], 60 samples, ")
    chromium.run("document.getElementById('search').select()")
    chromium.type("/(/")
    assert flames.text(chromium, "found") == "This is no regular expression."
    chromium.key("Escape")
    assert flames.text(chromium, "found") == ""
    assert not any(each["found"] for each in chromium.run(flames.BARS))
    chromium.key("/")
    chromium.type("nowhere")
    assert flames.text(chromium, "found") == "Not found in alpha, [kernel]."


def test_zoom_by_mouse_and_keys(chromium, path):
    chromium.open(path, 1280)
    width = chromium.run("chart.element.clientWidth")

    def zoom():
        bars = chromium.run(flames.BARS)
        at = chromium.run(f"{flames.BARS_PATH}(chart.zoom)")
        (own,) = [each for each in bars if each["path"] == at]
        assert abs(own["right"] - own["left"] + 1 - width) < 0.01
        # Only what is below and above it is there.
        assert all(each["path"].startswith(at) or at.startswith(each["path"]) for each in bars)
        return at

    flames.press(chromium, flames.bar("alpha;[kernel];0x100"))
    assert zoom() == "alpha;[kernel];0x100"
    assert "90 samples" in flames.text(chromium, "details")
    flames.press(chromium, flames.bar("alpha"))
    assert zoom() == "alpha"
    flames.press(chromium, "document.getElementById('reset')")
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
    bar = flames.bar("alpha;[kernel];0x100;0x200")
    assert chromium.run(bar + ".title") == "0x200\n35.00 %"
    x, y = chromium.run("(() => { const b = %s.getBoundingClientRect();"
                        "return [b.x + 3, b.y + 3]; })()" % bar)
    chromium.mouse("mouseMoved", x, y)
    assert flames.text(chromium, "details").splitlines() == [
        "0x200", "70 samples", "70,000 cycles", "35.00 % of all VMs", "itself 15.00 % (30 samples)",
        "interrupts off in 42.86 % of its samples"]
    chromium.mouse("mouseMoved", 1, 1)
    assert flames.text(chromium, "details").splitlines()[:2] == ["all VMs", "200 samples"]
    assert (f"also {7 * flames.HUGE:,} instructions:u (7 samples)" in
            flames.text(chromium, "details"))


def test_functions(chromium, path):
    """A function that is below itself counts once in its total."""
    chromium.open(path, 1280)
    assert flames.table(chromium, "functions") == [
        ["55.00 %", "55.00 %", "0x300"], ["30.00 %", "30.00 %", "0x300"],
        ["15.00 %", "60.00 %", "0x200"], ["0.00 %", "70.00 %", "0x100"]]
    flames.press(chromium, "[...document.querySelectorAll('#functions button')].pop()")
    assert flames.text(chromium, "found").startswith("Found: 70.00 % of all VMs, 140 samples")


def test_splits(chromium, path):
    chromium.open(path, 1280)
    flames.choose(chromium, vm=0)
    for value in ("masked", "vcpu", "space"):
        flames.press(chromium, f"document.querySelector('[value=\"{value}\"]')")
    assert {name: n for name, (n, _) in flames.shown(chromium).items() if name.count(";") == 3} == {
        "vcpu 0;satp 0x8000;[kernel];interrupts off": 30,
        "vcpu 0;satp 0x8000;[kernel];interrupts on": 40,
        "vcpu 1;satp 0x8001;[kernel];interrupts off": 20,
        "vcpu 1;satp 0x8001;[user];0x300": 60}


def test_interrupts_off(chromium, path):
    """The line below a bar is as long as the part of its samples; user mode has none."""
    chromium.open(path, 1280)
    found = chromium.run("chart.bars.map(({element}) => getComputedStyle(element).backgroundSize)")
    paths = [each["path"] for each in chromium.run(flames.BARS)]
    masked = {path: size.removesuffix(" 3px") for path, size in zip(paths, found, strict=True)}
    assert masked["alpha;[user]"] == masked["beta"] == "0%"
    assert masked["alpha;[kernel];0x100;0x300"] == "100%"
    assert masked[""] == "25%"
    assert abs(float(masked["alpha;[kernel];0x100;0x200"].removesuffix("%")) - 300 / 7) < 0.01


def test_what_is_missing_is_told(chromium, path, tmp_path):
    chromium.open(path, 1280)
    assert flames.text(chromium, "summary") == (
        "VMs alpha, beta: 207 samples of cycles, instructions:u, one for each 1,000 events, "
        "in 0.000000 s of the machine's time, from some.samples.")
    assert flames.text(chromium, "missing") == (
        f"{SAID} Not complete: 3 samples were lost; 2 periods were sampled late; 2 samples did not "
        "arrive; for a while nothing was sampled (1 row of the table below); the recording has no "
        "end, so what it misses is not known.")
    rows = flames.table(chromium, "ends")
    assert rows[0] == ["alpha/0", "cycles", "70,017", "70", "0", "0", "0.750000 s", "0.000000 s",
                       ""]
    assert rows[2][:2] + rows[2][-1:] == ["alpha/1", "instructions:u", "the recording has no end"]
    assert rows[3] == ["beta/0", "cycles", "52,017", "50, and 2 did not arrive", "0", "0",
                       "0.750000 s", "0.250000 s", "the guest needed that counter"]
    whole = [flames.HEAD | {"vms": ["alpha"], "period": "2000hz"},
             flames.sample(*flames.STACKS[0][:-1]),
             flames.end("alpha", 0, "cycles", 1, 0, 0, 0, [])]
    chromium.open(flames.make(tmp_path, whole), 1280)
    assert flames.text(chromium, "missing") == SAID.replace("alpha, beta", "alpha")
    assert "2,000 times in a second of a vcpu's own time" in flames.text(chromium, "summary")
