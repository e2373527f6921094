# SPDX-License-Identifier: Apache-2.0
"""Tally on firmware and emulators of later Debian releases, whatever versions these have today.
Results are exact on those that tests/peers.toml knows (peers.py)."""

import pytest

import bare_guests
import harness
from measured import ONE_EXPECTED, ONE_ROUND
import peers
from platforms import AS_EVER, CHANCE, cpu, has_lcofi, on_qemu, without_ssccfg

# Releases whose OpenSBI is looked at, and whose QEMU.
FIRMWARES = ("trixie", "forky")
QEMUS = ("forky", "sid")


def on_firmware(suite, text=None):
    """Options for OpenSBI of a release, on a hart that QEMU knows as `text`."""
    return ["--bios", peers.opensbi(suite), *(["--cpu", text] if text else [])]


@pytest.mark.parametrize("suite, text", [
    ("trixie", cpu(["ssccfg"])), ("forky", cpu(["ssccfg"])), ("forky", "tt-ascalon"),
])
def test_firmware_that_sets_flags_in_start(tmp_path, suite, text):
    """From 1.8 on it sets OF in each start, unless it clears it: a vcpu alone on a hart without
    Ssccfg loses no interrupt and sees no stray flag all the same."""
    result = bare_guests.boot(tmp_path, {"alpha": CHANCE}, options=on_firmware(suite, text))
    assert result.vm("alpha") == AS_EVER
    assert any(f"overflow {without_ssccfg()}: no ssccfg" in line for line in result.own)


def version(text):
    """ "QEMU 11.1.3": (11, 1, 3)."""
    return tuple(int(part) for part in text.split()[1].split("."))


@pytest.mark.parametrize("machine, firmware", [
    (None, None), (None, "forky"), ("sid", None), ("sid", "trixie"), ("sid", "forky"),
], ids=str)
def test_what_a_hart_shows_of_flags(tmp_path, machine, firmware):
    """Without Ssccfg, as boot tries it: QEMU hides the flag of a closed counter since 11 only, and
    a start sets flags from OpenSBI 1.8 on."""
    options = [*(on_qemu(machine) if machine else []),
               *(on_firmware(firmware) if firmware else []), "--cpu", "tt-ascalon"]
    if machine and not has_lcofi(machine):
        pytest.skip(f"{peers.qemu_version(machine)} has no overflow interrupts")
    result = bare_guests.boot(tmp_path, {"alpha": CHANCE}, options=options)
    assert result.vm("alpha") == AS_EVER
    shown = "hidden" if version(peers.qemu_version(machine)) >= (11,) else "shown"
    start = "sets" if version(peers.opensbi_version(firmware)) >= (1, 8) else "keeps"
    assert (f"hart 0: OF is {shown} where hcounteren is 0; a start while an LCOFI pends {start} "
            "it; a start far from the wrap loses the next overflow") in result.own


@harness.both_backends
@pytest.mark.parametrize("suite", FIRMWARES)
def test_counts_and_samples_are_exact_on_newer_firmware(tmp_path, suite, backend):
    result = bare_guests.boot(tmp_path, {"alpha": CHANCE, "beta": ONE_ROUND}, backend=backend,
                              options=on_firmware(suite))
    assert result.vm("alpha") == AS_EVER
    assert result.vm("beta") == ONE_EXPECTED


@harness.both_backends
@pytest.mark.parametrize("suite", QEMUS)
def test_newer_qemu(tmp_path, suite, backend):
    """Counts are exact. With LCOFIs samples are, too: a timer that pends at boot must not hide that
    unmasking an LCOFI comes late. Without them, sampling is refused in words."""
    sampler = {"alpha": CHANCE} if has_lcofi(suite) else {}
    result = bare_guests.boot(tmp_path, {**sampler, "beta": ONE_ROUND}, backend=backend,
                              options=on_qemu(suite))
    assert result.vm("beta") == ONE_EXPECTED
    why = "no bit 13 of sie and hvien that can be set"
    refused = (f"hart 0: 16 counters (3 to 18) of 64 bits, back end {backend}, overflow not "
               f"available to guests: {why}")
    if sampler:
        assert result.vm("alpha") == AS_EVER
    assert (refused in result.own) == (not sampler)
    assert (f"vm beta: {bare_guests.NO_OVERFLOW}: hart 0 has {why}"
            in result.own) == (not sampler)


@pytest.mark.parametrize("suite", QEMUS)
def test_the_self_test_leaves_out_what_the_hart_lacks(tmp_path, suite):
    """On a QEMU without LCOFIs, and on Tally with the snapshot: each case that wants one is left
    out in words, and the snapshot's bitmap must be 0."""
    asked = 'pmu-overflow = "on"; ' if has_lcofi(suite) else ""
    lines = bare_guests.boot(tmp_path, {"alpha": ""}, options=on_qemu(suite),
                             properties=asked + 'pmu-snapshot = "on";').vm("alpha")
    lacking = [] if asked else [
        "SKIP 11.5 virtual LCOFIs: one overflow counts 1 | sie bit 13 cannot be set",
        "SKIP Sscofpmf overflow | sie bit 13 cannot be set",
    ]
    assert [line for line in lines if line.startswith("SKIP ")] == [
        "SKIP 11.5 HFENCE_GVMA_SENT: stays 0 | this firmware does not count the event", *lacking]
    assert "PASS 11.13 snapshot: the overflown counter's bit" in lines
    assert lines[-1].endswith(" passed, 0 failed")


@pytest.mark.long
@harness.both_backends
@pytest.mark.parametrize("options", [
    (None, "trixie"), (None, "forky"), ("sid", None), ("sid", "trixie"), ("sid", "forky"),
], ids=str)
def test_the_self_test_passes(tmp_path, options, backend):
    machine, firmware = options
    words = on_qemu(machine) if machine else []
    words += on_firmware(firmware) if firmware else []
    lines = bare_guests.boot(tmp_path, {"alpha": ""}, backend=backend, options=words).vm("alpha")
    assert lines[-2:] == ["0 known, 2 skipped", "338 passed, 0 failed"]


@pytest.mark.long
@pytest.mark.parametrize("suite", FIRMWARES)
def test_a_long_walk_by_chance(tmp_path, suite):
    """With far starts and starts while one pends, too."""
    result = bare_guests.boot(
        tmp_path, {"alpha": "sampling=chance calls=yes sharers=1 sequences=5000"},
        timeout=harness.GUARD,
        options=on_firmware(suite, cpu(["ssccfg"])))
    assert result.vm("alpha")[-1].endswith(" interrupts, 0 wrong")


@harness.both_backends
@pytest.mark.parametrize("suite", [None, *QEMUS])
def test_instret_that_counts_otherwise(tmp_path, suite, backend):
    """QEMU 11's instret leaves ECALL out, which its other counters count: a guest then gets no
    second filter of instructions, rather than one that counts otherwise than the first."""
    if suite and not has_lcofi(suite):
        pytest.skip(f"{peers.qemu_version(suite)} has no overflow interrupts")
    result = bare_guests.boot(tmp_path, {"alpha": "sampling=two period=1000"}, backend=backend,
                              options=on_qemu(suite) if suite else [])
    told = ("hart 0: guests do not get instret: it counts their instructions otherwise than the "
            "other counters do")
    differs = version(peers.qemu_version(suite)) >= (11,)
    assert (told in result.own) == differs
    lines = [line for line in result.vm("alpha") if not line.startswith("300 samples")]
    assert lines == ["event 0x1: counters 3 and 0, 0 wrong", "event 0x2: " + (
        "the second filter: error -2" if differs else "counters 4 and 2, 0 wrong"), "two: ends"]
