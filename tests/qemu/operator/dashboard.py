# SPDX-License-Identifier: Apache-2.0
"""The queries of docs/grafana/tally.json, and Debian's Prometheus beside a machine that is a
function here. tools/setup metrics installs Prometheus."""

import contextlib
import http.server
import json
import re
import shutil
import subprocess
import threading
import urllib.parse
import urllib.request

import pytest

import fakes
import harness
from tallylib import metrics

FILE = harness.ROOT / "docs/grafana/tally.json"
CONFIG = """scrape_configs:
- job_name: tally
  scrape_interval: 1s
  static_configs: [{targets: ["127.0.0.1:%d"]}]
"""


def board():
    """The dashboard."""
    return json.loads(FILE.read_text(encoding="ascii"))


def queries():
    """{title of a panel: its queries}, without rows."""
    return {panel["title"]: [target["expr"] for target in panel["targets"]]
            for panel in board()["panels"] if panel["type"] != "row"}


def rows(command, step):
    """What the prompt tells: each look is 2 s after the one before. All that it may tell is there.
    """
    who = {"vm": "alpha", "vcpu": 0}
    what = {**who, "observation": 1, "event": "0x2", "data": "0x0", "filter": "uk", "shared": False,
            "value": 3000 * step, "ns": 10**9 * step}
    told = {
        "vms": [{"vm": "alpha", "state": "running", "uptime_ms": 2000 * step, "vcpus": 1,
                 "harts": [0], "memory": 1 << 24},
                {"vm": "alpha", "port": 0, "network": "lan", "link": "up", "sent": step,
                 "sent_bytes": 60 * step, "refused": step, "received": step,
                 "received_bytes": 60 * step, "lost": step}],
        "crash": [{"vm": "alpha", "failure": "did not ring", "crash": step, "time_us": 10**6}],
        "exits": [{**who, **dict.fromkeys(fakes.CAUSES, 10 * step), "time_us": 2 * 10**6 * step,
                   "cpu_us": 500000 * step, "steal_us": 700000 * step,
                   "hs_instructions_by": {**dict.fromkeys(fakes.CAUSES, 1000 * step), "loading": 0},
                   "longest_stay": 900,
                   "budget": {"event": "0x2", "count": 500, "period_us": 10000, "spent": 50 * step,
                              "exceeded_by": 3, "throttled_us": 250000 * step},
                   "windows": {"late": step, "latest_ns": 1500, "missed": step}}],
        "time": [{"time": "", "seconds": 10**9 + 2 * step}],
        "pmu": [{**who, "hart": 0, "counters": 1, "overflows": step, "held_back": step,
                 "refusals": step},
                {**who, "counter": 4, "event": "0x2", "data": "0x0", "filter": "uk",
                 "state": "running", "value": 7 * step}],
        "observed": [{**what, "ended": None, "samples": step, "lost": step, "late": step},
                     {**what, "observation": 2, "ended": "the vcpu stopped"}]}
    return told[command.split()[0]]


class Told:
    """A machine for tallylib.metrics, at one look."""

    def __init__(self, step):
        self.step = step

    def objects(self, command):
        return rows(command, self.step)

    def ask(self, command):
        return fakes.told(rows(command, self.step))


class Scraped(http.server.BaseHTTPRequestHandler):
    """Each request is the machine's next look."""

    step = 1000  # each count is far above 0, from which rate() would guess when it began

    def do_GET(self):  # pylint: disable=invalid-name
        """Answers with all numbers."""
        Scraped.step += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(metrics.collect(Told(Scraped.step)).encode())

    def log_message(self, *_arguments):  # pylint: disable=arguments-differ
        """Says nothing."""


def installed():
    """Installs Prometheus if need be. Where that is not possible, the test is skipped."""
    if not shutil.which("prometheus"):
        done = subprocess.run([harness.ROOT / "tools/setup", "metrics"], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            pytest.skip("no Prometheus: " + " ".join(done.stderr.split()))
    return "prometheus"


@contextlib.contextmanager
def prometheus(folder):
    """Scrapes the machine once a second: ask(QUERY) -> [(labels, value)]."""
    with contextlib.ExitStack() as stack:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scraped)
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (folder / "prometheus.yml").write_text(CONFIG % server.server_port, encoding="ascii")
        process = stack.enter_context(subprocess.Popen(
            [installed(), f"--config.file={folder}/prometheus.yml",
             f"--storage.tsdb.path={folder}/data", "--web.listen-address=127.0.0.1:0",
             "--query.lookback-delta=1h"], stderr=subprocess.PIPE, text=True))
        stack.callback(process.terminate)
        said = ""
        while "Server is ready to receive web requests" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        found = re.search(r'msg="Listening on" address=(\S+)', said)
        threading.Thread(target=process.stderr.read, daemon=True).start()

        def ask(query):
            address = f"http://{found[1]}/api/v1/query?" + urllib.parse.urlencode({"query": query})
            with urllib.request.urlopen(address, timeout=harness.GUARD) as answer:
                told = json.load(answer)
            return [(row["metric"], float(row["value"][1])) for row in told["data"]["result"]]

        yield ask
