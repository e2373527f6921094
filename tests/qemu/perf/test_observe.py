# SPDX-License-Identifier: Apache-2.0
"""Counts of VMs from beside them (observe, observed, unobserve): they are exact, and the guests'
own are what they are without. An operator in a VM asks, so each request comes at the same
instruction in each run."""

import os
import re
import subprocess

import pytest

from bare_guests import FOREVER
import harness
import measured
import operators
from operators import MS, at_once, objects
from platforms import want_instret
import prompts

LENGTH = 1000000
ROUNDS = 4
CALLS = 7
# The jump to the work, two instructions a round and the return, and the ecall.
USER_WORK = 2 * LENGTH + 3
# Of the guest's time, which begins with its life: its work begins with a frame, and takes a third
# of it in turns with its neighbours. Its life begins when 15 ms of the machine's time are over, so
# looks 10 ms behind the same ticks of that are just before the next work.
BEGINS, FRAME = 80 * MS, 40 * MS
LOOKS = [BEGINS + 10 * MS + n * FRAME for n in range(ROUNDS + 1)]
# The number of the first observation of an operator that is the third VM.
FIRST = 3 << 24 | 1
NEEDED = "the guest needed that counter"
OTHERWISE = "the guest counts something else on that counter"


@harness.both_backends
@pytest.mark.parametrize("mode, own", [("u", ""), ("u", "own=yes"), ("u", "own=restarts"),
                                       ("k", "own=yes")])
def test_equals_what_the_guest_counts(tmp_path, backend, mode, own):
    """Span by span, beside a busy neighbour; and it is the same where the guest counts nothing."""
    asked = [(LOOKS[0], f"observe alpha 0x2:{mode} --json"), *at_once(
        "observe beta 0x2:u --json", "observe alpha 0xf0004 --json",
        "observe alpha 0xf0005 --json"),  # what M-mode sees first, and what only Tally does
             *((tick, "observed --json") for tick in LOOKS),
             *at_once("unobserve --json", "observed --json")]
    result, told = operators.boot(tmp_path, {
        "alpha": f"kind=waits filter={mode} rounds={ROUNDS + 1} length={LENGTH} calls={CALLS} "
                 f"after={BEGINS - FRAME // 2} every={FRAME} {own}",
        "beta": f"kind=busy ticks={300 * MS}"}, asked, access="watch", backend=backend)
    told = list(map(objects, told))
    assert [line["ended"] for lines in told for line in lines] == [None] * (4 + 4 * (ROUNDS + 2))
    looks, last = told[4:-2], told[-2]
    assert {lines[0]["shared"] for lines in looks} == {own != ""}
    values = [lines[0]["value"] for lines in looks]
    assert [(line["vm"], line["event"]) for line in last] == [
        ("alpha", "0x2"), ("alpha", "0xf0004"), ("alpha", "0xf0005"), ("beta", "0x2")]
    assert [line["value"] for line in last] == [values[-1], CALLS * ROUNDS, CALLS * ROUNDS, 0]
    assert told[-1] == []
    spans = [after - before for before, after in zip(values, values[1:])]
    if mode == "u":
        assert values[0] == 0 and spans == [USER_WORK] * ROUNDS
    seen = [int(n) for n in re.findall(r"waits: [1-9]: (\d+)", "\n".join(result.vm("alpha")))]
    assert seen == (spans if own else [0] * ROUNDS)


# Observers of all kinds come and go, and are looked at in between.
COME_AND_GO = [
    *at_once(*(f"observe {vm} {event} --json" for vm in ("alpha", "beta")
               for event in ("0x2:uk", "0x2:u", "0x1:k", "0x1:uk", "0x10019:u", "0xf0100"))),
    *[(f"+{2 * MS}", "observed --json")] * 4, *at_once("unobserve --json")]
TIMES = 40


@harness.both_backends
def test_guests_count_the_same(tmp_path, backend):
    """alpha counts under all filters, and its values are those of a guest beside which nobody
    looks; beta judges each value, flag and interrupt of random sequences itself. Guests are in the
    observers' way; the other way round they never are."""
    result, told = operators.boot(tmp_path, {
        "alpha": f"kind=measure rounds=2 length={prompts.SHORT}",
        "beta": "sampling=chance seed=1 sequences=200 sharers=3"}, COME_AND_GO, access="watch",
        times=TIMES, backend=backend)
    assert len(told) == TIMES * len(COME_AND_GO)
    ended = {line["ended"] for answer in told for line in objects(answer)}
    assert {None, NEEDED, OTHERWISE} <= ended
    assert result.vm("alpha") == measured.expected(2, prompts.SHORT)
    assert result.vm("beta")[-1].endswith(" 0 wrong")


def test_as_many_as_there_are_and_a_restart(tmp_path):
    """Eight of a vcpu; and what a VM's end leaves of them."""
    observe = "observe alpha 0x2:k --json"
    asked = [*at_once(*[observe] * 9), (f"+{10 * MS}", "observed --json"),
             *at_once("restart alpha"), (f"+{50 * MS}", "observed --json"),
             *at_once("observed --json", f"unobserve {FIRST + 7} --json", observe,
                      "unobserve --json", "stop alpha"),
             (f"+{50 * MS}", observe),  # of one that is off: it counts from the start
             (f"+{10 * MS}", "observed --json"), *at_once("start alpha"),
             (f"+{50 * MS}", "observed --json")]
    result, told = operators.boot(tmp_path, {"alpha": FOREVER, "beta": FOREVER}, asked,
                                  until=operators.ENDED)
    restarts = told.pop(10)
    first, (lived, left, again, removed, (tenth,), gone, (off,), (still,), (on,)) = (
        list(map(objects, told[:9])),
        [objects(told[n]) for n in (9, 10, 11, 12, 13, 14, 16, 17, 19)])
    assert first.pop() == [
        {"vm": "alpha", "vcpu": 0, "observation": None, "ended": "too many observers"}]
    assert [line["observation"] for (line,) in first] == list(range(FIRST, FIRST + 8))
    assert [line["ended"] for (line,) in first] == [None] * 8
    assert restarts == (["alpha is being restarted"], 0)
    assert result.own.count("vm alpha: starts again") == 2
    # The last one has seen a turn of alpha's.
    assert lived[-1]["value"] > 0
    assert [line["ended"] for line in left] == ["the vcpu stopped"] * 8
    assert all(line["value"] >= before["value"] for line, before in zip(left, lived))
    assert [{**line, "looked_ns": 0} for line in again] == [
        {**line, "looked_ns": 0} for line in left]
    assert len(removed) == 1 and tenth["observation"] == FIRST + 9 and len(gone) == 8
    assert (off["observation"], off["value"], still["value"]) == (FIRST + 10, 0, 0)
    assert on["ended"] is None and on["value"] > 0


@harness.both_backends
def test_the_clock_of_hs(tmp_path, backend):
    """A guest that counts two filters of instructions has the second on instret, by which Tally
    counts its own work: what is observed of that ends then."""
    want_instret()
    asked = [(40 * MS, "observe alpha 0xf0109 --json"), *at_once("stop alpha"),
             (f"+{50 * MS}", "observe alpha 0xf0109 --json"),
             *at_once("observe alpha 0xf0100 --json", "observe beta 0xf0109 --json",
                      "start alpha"), (f"+{50 * MS}", "observed --json")]
    result, told = operators.boot(
        tmp_path, {"alpha": f"kind=waits filter=u own=both every={1000 * MS}", "beta": FOREVER},
        asked, until=operators.ENDED, backend=backend)
    assert result.vm("alpha") == ["waits: begins"] * 2
    assert [objects(told[n])[0]["ended"] for n in (0, 2, 3, 4)] == [OTHERWISE] + [None] * 3
    _, clock, exits, other = objects(told[6])
    assert clock["ended"] == NEEDED and exits["ended"] is other["ended"] is None
    assert min(clock["value"], exits["value"], other["value"]) > 0


def test_another_hart(tmp_path, two_harts):
    """The operator's hart asks the vcpus' hart. QEMU's counters see both harts' instructions, so
    the counts say little here."""
    asked = [(f"{100 * MS}", "observe alpha 0x2:k --json"), *[(f"+{MS}", "observed --json")] * 10,
             *at_once("unobserve --json")]
    _, told = operators.boot(tmp_path, {"alpha": FOREVER}, asked, vcpus=("1", "0"),
                             access="watch", options=two_harts, stays=False,
                             until=operators.ENDED)
    (first, second), *looks, last = map(objects, told)
    assert (first["vcpu"], second["vcpu"], first["ended"]) == (0, 1, None)
    # It has not been started, and would be counted if it were.
    assert {(off["value"], off["ended"]) for _, off in looks} == {(0, None)}
    counts = [one["value"] for one, _ in looks]
    assert all(before < after for before, after in zip(counts, counts[1:])) and len(last) == 2


WORK = 50_000_000
SPANS = 2
# As in spans.c. The guest's clock begins about 100 ms behind the machine's, so a look at each
# multiple of the machine's is long after a span's end.
FRAME_MS = 500
# The first look is behind all that the kernel's driver tries while it boots, and while the guest
# sleeps.
FRAMES = range(4, 15)


def build_spans(folder):
    (folder / "test").mkdir(exist_ok=True)
    subprocess.run([os.environ.get("CROSS_COMPILE", "riscv64-linux-gnu-") + "gcc", "-static", "-O2",
                    "-Wall", "-Wextra", "-Werror", harness.ROOT / "tests/qemu/programs/spans.c",
                    "-o", folder / "test/spans"], check=True)


@harness.short_on("ssccfg")
def test_linux(tmp_path, backend):
    """All user instructions of a Debian guest, span by span: as many as its kernel counts by itself
    for the whole system. In each, perf counts those of one process, which are a known number."""
    build_spans(tmp_path)
    tree = harness.linux_tree(tmp_path, {
        "alpha": f"sleep 2; /test/spans perf stat -x, -e instructions:u work {WORK} 2>&1"})
    asked = [(FRAMES[0] * FRAME_MS * MS, "observe alpha 0x2:u --json"),
             *((n * FRAME_MS * MS, "observed --json") for n in FRAMES)]
    result, told = operators.run(tmp_path, tree.read_text(encoding="utf-8"), ["alpha"], asked,
                                 access="watch", backend=backend)
    assert objects(told[len(FRAMES) // 2])[0]["ended"] is None
    values = [line["value"] for answer in told for line in objects(answer)]
    spans = [after - before for before, after in zip(values, values[1:])]
    text = "\n".join(result.guest_output("alpha", "alpha"))
    inside = [int(n) for n in re.findall(r"span [1-9]: (\d+)", text)]
    assert re.findall(r"(\d+),[^,]*,instructions:u,", text) == [str(WORK)] * SPANS
    assert inside in [spans[n:n + SPANS] for n in range(len(spans))], (spans, text)
    # The rest is of perf, and of those who start it and wait for it.
    assert all(WORK < span < 2 * WORK for span in inside)
