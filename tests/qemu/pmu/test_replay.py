# SPDX-License-Identifier: Apache-2.0
"""Sequences of the model test, made on the fake hart, on a real one under Tally: every answer,
every value, every overflow flag must be the same, whatever the back end, the way in which counters
are read, and the neighbours do."""

import re
import struct

import pytest

import harness
import peers
import plain
from platforms import has_lcofi, instret_is_alike, on_qemu

SEEDS = (1, 2, 3, 4, 5, 6)
NEIGHBOURS = ("busy", "pmuloop", "hostile")

# The events are those that the sequences are recorded with: see tests/host/record.c.
VM = """
		alpha {{
			memory = /bits/ 64 <(16 << 20)>;
			kernel = <&replay>;
			pmu-reads = "{reads}";
			pmu-snapshot = "on";
			pmu-overflow = "on";
			pmu-events = <0x1 0x2 0x10019 0x1001b 0x10021 0xf0005 0xf0008 0xf0009>;

			vcpu0 {{
				harts = <0>;
			}};
		}};
"""

NEIGHBOUR = """
		beta {{
			memory = /bits/ 64 <(16 << 20)>;
			kernel = <&bare>;
			bootargs = "kind={kind} ticks=300000";

			vcpu0 {{
				harts = <0>;
			}};
		}};
"""

TREE = """/dts-v1/;
/ {{
	compatible = "tally,vm-tree-1";
	images {{
		replay: replay {{ data = /incbin/("replay-{name}.bin"); }};
		bare: bare {{ data = /incbin/("bare.bin"); }};
	}};
	vms {{{nodes}
	}};
}};
"""

# Words before the costs of the file, the costs, and words of a step: see tests/host/record.h.
HEAD, COSTS, STEP = 4, 18, 10
READ = 3


def of(seed, suite=None):
    """The name of the sequence for a hart of that QEMU."""
    return str(seed) if instret_is_alike(suite) else f"{seed}-no-instret"


def replay(folder, name, backend, neighbour=None, reads="direct", status=harness.OK, options=()):
    """The lines of the program with sequence NAME, which must end as told."""
    plain.make("build/guests/bare.bin")
    plain.make(f"build/guests/replay-{name}.bin")
    nodes = VM.format(reads=reads) + (NEIGHBOUR.format(kind=neighbour) if neighbour else "")
    file = folder / "replay.dts"
    file.write_text(TREE.format(name=name, nodes=nodes), encoding="utf-8")
    result = harness.run(file, backend=backend, timeout=harness.GUARD,
                         options=["--include", harness.BUILD / "guests", *options])
    assert result.status == status, str(result)
    return result.vm("alpha")


def check(lines):
    """Nothing failed, and enough was compared to say something."""
    found = re.fullmatch(r"(\d+) passed, (\d+) failed", lines[-1])
    assert found, "\n".join(lines)
    assert int(found.group(2)) == 0, "\n".join(lines)
    assert int(found.group(1)) > 900, "\n".join(lines)


@harness.both_backends
@pytest.mark.parametrize("seed", SEEDS)
def test_the_fake_hart_is_the_real_one(tmp_path, seed, backend):
    check(replay(tmp_path, of(seed), backend))


@harness.both_backends
def test_a_newer_qemu(tmp_path, backend):
    """Whose guests do not get instret, as that of sid, or do."""
    if not has_lcofi("sid"):
        pytest.skip(f"{peers.qemu_version('sid')} has no overflow interrupts")
    check(replay(tmp_path, of(1, "sid"), backend, options=on_qemu("sid")))


@harness.both_backends
def test_trapped_reads_give_the_same_values(tmp_path, backend):
    check(replay(tmp_path, of(1), backend, reads="trap"))


@harness.both_backends
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_neighbours_do_not_show(tmp_path, neighbour, backend):
    check(replay(tmp_path, of(2), backend, neighbour=neighbour))


def test_one_wrong_value_is_noticed(tmp_path):
    plain.make(f"build/guests/replay-{of(3)}.bin")
    folder = harness.BUILD / "guests/replay"
    whole = (folder / f"{of(3)}.seq").read_bytes()
    words = list(struct.unpack(f"<{len(whole) // 8}Q", whole))
    steps = range(HEAD + COSTS, len(words), STEP)
    read = [at for at in steps if words[at] == READ and words[at + 8] == 0][-1]
    words[read + 9] ^= 1
    (folder / "spoilt.seq").write_bytes(struct.pack("<%dQ" % len(words), *words))
    lines = replay(tmp_path, "spoilt", "sbi", status=harness.VM_FAILED)
    assert lines[-1].endswith(" passed, 1 failed")
    assert f"FAIL step {(read - HEAD - COSTS) // STEP}: read(" in "\n".join(lines)
