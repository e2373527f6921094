# SPDX-License-Identifier: Apache-2.0
"""The dashboard of docs/grafana shows all metrics, and no others. Each of its queries is answered
by Debian's Prometheus. Grafana is no package of Debian's, so nothing here shows the dashboard."""

import re

import pytest

import dashboard
import harness

# What Grafana puts into a query. The interval holds all that a test takes.
PUT = {"$vm": ".*", "$__rate_interval": "1h"}
# Exact: all numbers of a scrape have one time, so only what each look adds remains of a ratio.
RATIOS = {"CPU: share of the machine's time": 0.25, "Steal: share of the machine's time": 0.35,
          "Throttled: share of the machine's time": 0.125, "HS instructions of an exit": 100.0,
          "Events in a second of counted time": 3000.0}
CONSTANTS = {"VMs by state": 1, "Vcpus of each hart": 1, "Memory": 1 << 24, "Vcpus of each VM": 1,
             "Longest stay in HS, instructions": 900, "Longest delay of a window": 1.5e-6,
             "Configured counters": 1, "Ends, and their reasons": 1}


def test_the_metrics_are_those_of_the_page():
    page = (harness.ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`(tally_\w+)`", "".join(re.findall(r"^\| `tally.*", page, re.M))))
    shown = set()
    for panel, queries in dashboard.queries().items():
        for query in queries:
            names = set(re.findall(r"\btally_\w+", query))
            assert names, panel
            shown |= names
    assert len(described) > 30
    assert shown == described


def test_each_place_is_one_panels():
    """In Grafana's grid of 24 columns no panel lies upon another."""
    cells = set()
    panels = dashboard.board()["panels"]
    for panel in panels:
        at = panel["gridPos"]
        mine = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                for y in range(at["y"], at["y"] + at["h"])}
        assert not mine & cells and at["x"] + at["w"] <= 24, panel["title"]
        cells |= mine
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)


@pytest.mark.long
def test_each_query_has_an_answer(tmp_path):
    """Of a machine that is scraped, with a VM of which everything is told."""
    with dashboard.prometheus(tmp_path) as ask:
        while (ask("count_over_time(tally_time_seconds_total[1h])") or [({}, 0)])[0][1] < 4:
            pass
        for panel, queries in dashboard.queries().items():
            for query in queries:
                for name, value in PUT.items():
                    query = query.replace(name, value)
                values = [value for _, value in ask(query)]
                assert values, f"{panel}: {query}"
                if panel in CONSTANTS:
                    assert CONSTANTS[panel] in values, panel
                if panel in RATIOS:
                    assert values[0] == pytest.approx(RATIOS[panel], rel=1e-9), panel
        assert ask("tally_no_such_metric") == []
