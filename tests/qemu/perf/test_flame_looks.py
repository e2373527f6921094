# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms html: how the page looks in a real browser, wide and narrow, light and dark; and
that names of guests are text in it, whatever they are."""
import base64
import random
import re
import sys

import pytest

import flames
import harness

sys.path.insert(0, str(harness.ROOT / "tools/lib"))
from perflib import html, profile


@pytest.fixture(scope="module", name="path")
def made(tmp_path_factory):
    return flames.make(tmp_path_factory.mktemp("page"), flames.objects())


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
             for part in parts]
    return sum(part * of for part, of in zip(parts, (0.2126, 0.7152, 0.0722)))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# What says something and is not above all else; whose parts are no other ones of these.
OTHERS = """[...document.querySelectorAll("h1, h2, p, #vms button, #controls label, #reset, td, " +
  "th, #more")].filter((e) => e.getClientRects().length && e.innerText.trim()).map((e) => {
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
    bars, others = chromium.run(flames.BARS), chromium.run(OTHERS)
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
        assert bool(each["text"]) == (each["right"] - each["left"] > 33), each
    for each in named:
        assert contrast(each["fore"], each["back"]) >= 4.5, each
        assert each["bottom"] - each["top"] >= 20
    page = chromium.run("""(() => { const s = getComputedStyle(document.body);
                        return [s.color, s.backgroundColor]; })()""")
    assert contrast(*page) > 10
    assert (luminance(page[1]) < 0.1) == dark
    assert chromium.errors == []


PRINTED = """[...document.querySelectorAll(".frame, .key, .share")].map((e) =>
  getComputedStyle(e).printColorAdjust)"""


def test_on_paper(chromium, path):
    """Colours stay, and nothing is above bars and tables; also if the paper is narrower than the
    window was: no script is told, so bars have parts of the width."""
    chromium.open(path, 1280)
    lefts = chromium.run(
        "chart.bars.map(({element}) => [element.style.left, element.style.width])")
    assert all(left.endswith("%") and "%" in width for left, width in lefts)
    chromium.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert set(chromium.run(PRINTED)) == {"exact"}
        # The screen's, which is sticky.
        assert chromium.run("document.getElementById('details').getClientRects().length") == 0
        bars, others = chromium.run(flames.BARS), chromium.run(OTHERS)
        assert len(bars) > 5 and len(others) > 20
        assert not [(one["text"], other["text"]) for one in bars for other in others
                    if overlap(one, other)]
        assert base64.b64decode(chromium.call("Page.printToPDF")["data"]).startswith(b"%PDF-")
    finally:
        chromium.call("Emulation.setEmulatedMedia", media="")


def page_of(folder, found, name):
    """A page of objects, with name(sample, address)."""
    sums = profile.Profile(found)
    sums.named(name)
    path = folder / "page.html"
    path.write_text(html.page(html.data(sums, "</script><b>file")), encoding="ascii")
    return path


def test_touched(chromium, path):
    """At 400 pixels what is pressed is as high as a finger wants it."""
    chromium.open(path, 400)
    high = chromium.run("""[...document.querySelectorAll("#vms button, #controls label, " +
        "#reset, select, input[type=search]")].filter((e) => e.getClientRects().length).map((e) =>
        [e.outerHTML, e.getBoundingClientRect().height])""")
    assert len(high) > 8
    assert not [each for each in high if each[1] < 44]
    rows = chromium.run("""[...document.querySelectorAll("#functions button")].map((e) =>
        [e.getBoundingClientRect().height, e.closest("tr").getBoundingClientRect().height])""")
    assert rows and not [each for each in rows if each[0] < 34 or each[1] < 40]
    assert min(each["bottom"] - each["top"] for each in chromium.run(flames.BARS)) >= 27
    flames.press(chromium, flames.bar("alpha;[kernel];0x100"))
    assert "90 samples" in flames.text(chromium, "details")
    flames.press(chromium, "document.getElementById('reset')")
    assert "200 samples" in flames.text(chromium, "details")


@pytest.mark.parametrize("width", [1280, 400])
def test_long_names(chromium, tmp_path, width):
    """They are cut at the end of the bar, and whole where it is told what a bar is."""
    names = ["a_function_with_a_name_" * 12 + str(n) for n in range(3)]
    found = [flames.HEAD | {"vms": ["alpha"]}]
    found += [flames.sample("alpha", 0, "cycles", "kernel", False, 1000, (f"{n % 3:#x}", "0x2"))
              for n in range(9)]
    page = page_of(tmp_path, found, lambda _, ip: names[int(ip, 16)])
    chromium.open(page, width)
    assert chromium.run("document.documentElement.scrollWidth") == width
    long = chromium.run("""chart.bars.filter(({node}) => node.kind).map(({element}) => {
        const style = getComputedStyle(element), text = document.createRange();
        return [style.overflowX, style.textOverflow, style.whiteSpace,
                element.scrollWidth > element.clientWidth, element.clientWidth]; })""")
    assert len(long) == 6
    assert all(each[:4] == ["hidden", "ellipsis", "nowrap", True] for each in long)
    flames.press(chromium, "chart.bars.find(({node}) => node.name.endsWith('1')).element")
    assert flames.text(chromium, "details").splitlines()[0] == names[1]


def test_many_stacks(chromium, tmp_path):
    """A million samples in 10,000 stacks: a small file, and elements for what can be seen only."""
    numbers = random.Random(1)
    stacks = []
    while len(stacks) < 10000:
        callers = stacks[-1][:numbers.randrange(1, 15)] if numbers.random() < 0.9 and stacks else ()
        stacks.append((*callers, *(f"{numbers.randrange(1, 3000):#x}" for _ in range(3)),
                       f"{0x10000 + len(stacks):#x}"))
    found = profile.Profile(
        [flames.HEAD] + [flames.sample(("alpha", "beta")[n % 2], 0, "cycles",
                                       ("kernel", "user")[n % 5 == 0], n % 7 == 0, 100, stack)
                         for n, stack in enumerate(stacks)])
    for both in found.sums.values():
        both[:] = 100, 10000
    assert len(found.sums) == len(stacks)
    found.named(lambda _, address: "function_" + address)
    page = tmp_path / "page.html"
    page.write_text(html.page(html.data(found, "file")), encoding="ascii")
    assert page.stat().st_size < 2000000
    for width in (1280, 400):
        chromium.open(page, width)
        assert chromium.run("root.samples[e]") == 10000 * 100
        bars = chromium.run(flames.BARS)
        for depth in {each["depth"] for each in bars}:
            row = [each for each in bars if each["depth"] == depth]
            assert len(row) <= width
            assert all(one["right"] <= other["left"] + 0.01 for one, other in zip(row, row[1:]))
        narrow = re.match(r"([\d,]+) bars are narrower", flames.text(chromium, "narrow"))
        assert int(narrow[1].replace(",", "")) > 1000
        chromium.key("/")
        chromium.type("function_0x10001")
        assert flames.text(chromium, "found") == (
            "Found: 0.01 % of all VMs, 100 samples, 10,000 events, in 1 bar.")
        assert chromium.errors == []


HOSTILE = ["</script><script>window.bad=1</script>", "<b>bold</b>", "<!--", "\"'&amp;`",
           "<img src=x onerror=window.bad=1>", "x" * 5000, "\u202etfel-ot-thgir \u0661 \u8fd4",
           "\ud800 alone", "__proto__", "constructor", "a;b\nc\0d", "@DATA@", " ", "javascript:1"]


def test_hostile_names(chromium, tmp_path):
    """Of functions, VMs, events, files and reasons: text, and nothing but text."""
    vms = [*HOSTILE[:5], HOSTILE[8]]
    head = flames.HEAD | {"vms": vms, "events": [HOSTILE[0]], "period": "1000"}
    found = [head] + [flames.sample(vm, 0, HOSTILE[0], "kernel", False, 1000, (f"{n:#x}",))
                      for n in range(len(HOSTILE)) for vm in vms]
    found += [flames.end(vm, 0, HOSTILE[0], 14, 0, 0, 5, [HOSTILE[4]]) for vm in vms]
    page = page_of(tmp_path, found, lambda _, ip: HOSTILE[int(ip, 16)])
    for width in (1280, 400):
        chromium.open(page, width)
        for number, vm in enumerate(vms):
            flames.choose(chromium, vm=number)
            assert chromium.run("root.name") == vm
            bars = chromium.run(flames.BARS)
            # What UTF-8 has no code for arrives as a replacement.
            names = {name.replace("\ud800", "\ufffd") for name in HOSTILE}
            assert {each["name"].replace("\ud800", "\ufffd") for each in bars
                    if each["depth"] == 2} == names
            for each in bars:
                assert each["name"].startswith(each["text"].removesuffix("\u2026"))
                assert each["samples"] == (len(HOSTILE) if each["depth"] < 2 else 1)
        assert chromium.run("document.documentElement.scrollWidth") == width
        flames.press(chromium, "document.querySelector('#chart').lastChild")
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
