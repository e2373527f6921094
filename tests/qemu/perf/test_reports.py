# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms report and diff: their tables, objects and page of differences."""
import pytest

import flames
import schemas

FIELDS = ("event", "overhead", "samples", "events", "vm", "mode", "symbol")


@pytest.fixture(name="file")
def made(tmp_path):
    return flames.write(tmp_path / "some.samples", flames.objects())


@pytest.fixture(name="later")
def made_later(tmp_path):
    """The same without the 40 samples of the first stack, and with a function of its own."""
    new = flames.sample("beta", 0, "cycles", "kernel", False, 1000, ("0x500",))
    head, *others = flames.objects()
    return flames.write(tmp_path / "later.samples", [head, *others[40:], *[new] * 40])


def printed(*words):
    done = flames.call(*words)
    assert done.returncode == 0, done
    return done.stdout.splitlines(), done.stderr.splitlines()


def objects(*words):
    """Lines of `report` or `diff`, as docs/schemas has them."""
    return [schemas.read("perf-vms", line, words[0]) for line in printed(*words)[0]]


def test_a_table(file):
    lines, complaints = printed("report", file)
    assert complaints == [] and lines == [
        "# " + flames.NAMELESS,
        "# 200 samples of 200000 cycles, 3 lost",
        "#  Overhead  Samples  VM     Mode    Symbol",
        "     30.00%       60  alpha  kernel  0x300",
        "     30.00%       60  alpha  user    0x300",
        "     25.00%       50  beta   kernel  0x300",
        "     15.00%       30  alpha  kernel  0x200",
        "",
        f"# 7 samples of {7 * flames.HUGE} instructions:u",
        "#  Overhead  Samples  VM     Mode  Symbol",
        "    100.00%        7  alpha  user  0x300",
        ""]


def test_children(file):
    """A function that has called itself is there once."""
    lines, _ = printed("report", file, "-e", "cycles", "--vm", "beta", "-s", "sym", "--children")
    assert lines[2:] == [
        "#  Children  Overhead  Samples  Symbol",
        "    100.00%   100.00%       50  0x300",
        "    100.00%     0.00%        0  0x100",
        "    100.00%     0.00%        0  0x200", ""]


def test_objects(file):
    """Each as the table has it, by any keys, and sums that a double would round."""
    assert objects("report", file, "-j")[0] == dict(zip(FIELDS, (
        "cycles", 30.0, 60, 60000, "alpha", "kernel", "0x300")))
    assert objects("report", file, "-j")[-1]["events"] == 7 * flames.HUGE
    assert printed("report", file, "-j")[1] == ["tools/perf-vms report: " + flames.NAMELESS]
    rows = objects("report", file, "-j", "-e", "cycles", "--sort", "vcpu,interrupts,satp")
    assert [(row["vcpu"], row["interrupts"], row["satp"], row["overhead"]) for row in rows] == [
        ("0", "on", "0x8000", 45.0), ("1", "-", "0x8001", 30.0), ("0", "off", "0x8000", 15.0),
        ("1", "off", "0x8001", 10.0)]
    rows = objects("report", file, "-j", "-e", "cycles", "--percent-limit", "25.01")
    assert [row["overhead"] for row in rows] == [30.0, 30.0]


def test_a_difference(file, later):
    lines, complaints = printed("diff", file, later, "-e", "cycles")
    assert complaints == [f"tools/perf-vms diff: {path}: {flames.NAMELESS}"
                          for path in (file, later)]
    assert lines == [
        "# cycles",
        "#  Baseline    Delta  VM     Mode    Symbol",
        "     30.00%  -20.00%  alpha  kernel  0x300",
        "      0.00%  +20.00%  beta   kernel  0x500",
        "     30.00%   +0.00%  alpha  user    0x300",
        "     25.00%   +0.00%  beta   kernel  0x300",
        "     15.00%   +0.00%  alpha  kernel  0x200",
        ""]
    assert objects("diff", file, later, "-e", "cycles", "-s", "vm", "-j") == [
        {"event": "cycles", "baseline": 75.0, "now": 55.0, "delta": -20.0, "vm": "alpha"},
        {"event": "cycles", "baseline": 25.0, "now": 45.0, "delta": 20.0, "vm": "beta"}]
    assert all(row["delta"] == 0 for row in objects("diff", file, file, "-j"))


def test_a_page_of_differences(chromium, tmp_path, file, later):
    """Bars are the second file's; what is more is red, what is less blue."""
    page = tmp_path / "page.html"
    assert printed("diff", file, later, "--html", page)[0] == []
    chromium.open(page, 1280)
    assert chromium.errors == []
    assert "from later.samples. Compared with some.samples." in flames.text(chromium, "summary")
    bars = {bar["path"]: [int(part) for part in bar["back"][4:-1].split(", ")]
            for bar in chromium.run(flames.BARS)}
    red, _, blue = bars["beta;[kernel];0x500"]
    assert red > blue + 50
    red, _, blue = bars["alpha;[kernel];0x100"]
    assert blue > red + 50
    assert len(set(bars["alpha;[user];0x300"])) == 1
    assert "alpha;[kernel];0x100;0x200;0x300" not in bars
    assert flames.table(chromium, "functions") == [
        ["35.00 %", "35.00 %", "\u221220.00 points", "0x300"],
        ["30.00 %", "30.00 %", "+0.00 points", "0x300"],
        ["20.00 %", "20.00 %", "+20.00 points", "0x500"],
        ["15.00 %", "40.00 %", "+0.00 points", "0x200"],
        ["0.00 %", "50.00 %", "+0.00 points", "0x100"]]
    flames.press(chromium, "chart.bars[0].element")
    assert "100.00 % before: +0.00 points" in flames.text(chromium, "details")


@pytest.mark.parametrize("words, why", [
    (("report", "FILE", "--sort", "vm,other"), "--sort vm,other: are different ones of: vm, "),
    (("report", "FILE", "--sort", "vm,vm"), "--sort vm,vm: are different ones of: vm, "),
    (("report", "FILE", "--vm", "gamma"), 'no VM "gamma" was sampled; there are: alpha, beta'),
    (("diff", "FILE", "FILE", "-e", "x"), 'no event "x" was sampled; there are: cycles, instr'),
    (("diff", "FILE", "FILE", "--html", "p", "--vm", "alpha"), "--html has all VMs and events"),
])
def test_wrong_use(file, words, why):
    done = flames.call(*(file if word == "FILE" else word for word in words))
    assert (done.returncode, done.stdout.count("\n") < 2) == (2, True)
    assert why in done.stderr, done.stderr
