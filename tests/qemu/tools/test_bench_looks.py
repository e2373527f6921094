# SPDX-License-Identifier: Apache-2.0
"""The report of tools/bench in a real browser: wide, on a telephone, dark, and printed. Its figures
are those of record where there are any, and made up for workloads."""

import base64
import json
import sys

import pytest

import harness

sys.path.insert(0, str(harness.ROOT / "tools/lib"))
from benchlib import answers, conclusions, derive, guests, html

# Of each machine: percent more than bare metal alone, and under perf.
MORE = {"bare": 0, "ssccfg": 0.02, "sbi": 0.03, "kvm-6.12": 0.2, "ssccfg-trap": 0.04,
        "sbi-trap": 0.06, "ssccfg-snapshot": 0.02, "pmu-off": 0.01}
CONDITIONS = {"alone": 0, "stat-1": 0.1, "stat-2": 0.3, "record-100": 0.1, "record-1000": 0.7,
              "record-10000": 5.5}
PICTURES = 5


def full():
    """All that a full run has."""
    made = {}
    for name in ("calls", "switch"):
        rows = json.loads((harness.ROOT / f"tests/bench/{name}.json").read_text(encoding="ascii"))
        for row, costs in rows.items():
            for on, cost in costs.items():
                made.setdefault(f"{name}/{on}", {})[row] = cost
    rows = {f"{w}/{c}": 1e7 * (1 + more / 100) for w in guests.WORKLOADS
            for c, more in CONDITIONS.items()}
    for on, more in MORE.items():
        made[f"linux/{on}"] = {row: cost * (1 + more / 100) for row, cost in rows.items()}
    for backend in ("ssccfg", "sbi"):
        made[f"beside/{backend}"] = rows
        for count in (1, 2, 4, 8):
            made[f"scale/{backend}-{count}"] = {row: cost + count for row, cost in rows.items()}
    runs = {name: {"name": name, "figures": figures, "commands": ["tools/run " + 40 * "--long "],
                   "seconds": 1} for name, figures in made.items()}
    for on in MORE:
        runs[f"linux/{on}"]["perf"] = {f"record-{rate}": {"samples": rate} for rate in guests.RATES}
    return {"format": "tally-bench-1", "set": "full", "versions": {"qemu": "10.0.2"},
            "determinism": {}, "runs": runs}


@pytest.fixture(scope="module", name="path")
def made_once(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html.report(full()), encoding="utf-8")
    return path


def test_each_answer_is_one_sentence():
    found = conclusions.of(full()) + answers.of(full())
    assert len(found) == len(conclusions.QUESTIONS) + len(answers.QUESTIONS)
    for _, sentence, (head, rows), _ in found:
        assert sentence.count(". ") == 0 and sentence.endswith(".") and "(" not in sentence
        assert rows and all(len(row) == len(head) for row in rows)


# Of what is seen: how far right it reaches, and in pictures how large their letters are.
RIGHT = """Math.max(...[...document.querySelectorAll("h1, h2, p, img, table, pre, summary")]
    .filter((e) => e.getClientRects().length && !e.closest(".wide"))
    .map((e) => e.getBoundingClientRect().right))"""
IMAGES = """[...document.images].map((e) => ({wide: e.getBoundingClientRect().width,
    scale: e.getBoundingClientRect().width / e.naturalWidth}))"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_beside_the_page(chromium, path, width, dark):
    """And letters in pictures are not made smaller than they are written by more than a tenth."""
    chromium.open(path, width, dark=dark)
    assert chromium.errors == [] and chromium.requests == [path.as_uri()] + [
        one for one in chromium.requests if one.startswith("data:")]
    assert chromium.run("document.documentElement.scrollWidth") == width
    assert chromium.run(RIGHT) <= width
    images = chromium.run(IMAGES)
    assert len(images) == PICTURES
    for image in images:
        assert 0 < image["wide"] <= width and image["scale"] > 0.9, images


def test_print(chromium, path):
    """On white paper in dark letters, whatever the screen has, and nothing is cut at the side."""
    chromium.open(path, 700, dark=True)
    chromium.call("Emulation.setEmulatedMedia", media="print", features=[
        {"name": "prefers-color-scheme", "value": "dark"}])
    colours = chromium.run("""(() => { const s = getComputedStyle(document.body);
        return [s.color, s.backgroundColor]; })()""")
    assert colours == ["rgb(34, 34, 34)", "rgb(255, 255, 255)"]
    assert chromium.run("document.documentElement.scrollWidth") == 700
    done = chromium.call("Page.printToPDF", printBackground=False)
    chromium.call("Emulation.setEmulatedMedia", media="")
    assert base64.b64decode(done["data"]).startswith(b"%PDF-")


def test_names_are_known():
    assert set(MORE) <= set(derive.NAMES)
