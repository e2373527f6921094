# SPDX-License-Identifier: Apache-2.0
"""Two Debian guests load a network with iperf3, beside guests that count; each frame is accounted
for."""

import pytest

import harness
import loads
import measured
import peers
import plain

pytestmark = pytest.mark.long

SENT = 8 << 20  # bytes of one transfer
GAMMA = f"""
		gamma {{
			memory = /bits/ 64 <(4 << 20)>;
			kernel = <&bare>;
			bootargs = "kind=measure rounds=1000000 length={measured.LENGTH}";
			vcpu0 {{ harts = <0>; }};
		}};
"""
SCRIPTS = {
    "alpha": loads.COUNTS + f"""
echo load begin
answer iperf3 -c 10.0.0.2 -n {SENT} --json
echo load end
""" + loads.COUNTED + loads.ACCOUNT,
    "beta": loads.COUNTS + """
iperf3 -s -1 >/dev/null
""" + loads.COUNTED + loads.ACCOUNT}


def loaded(folder, profile, properties="", **arguments):
    """One transfer beside three guests that count. Nearly nothing is sent twice, each frame is
    accounted for, each count is exact."""
    plain.make("build/guests/bare.bin")
    tree = loads.tree(folder, SCRIPTS, properties, more=GAMMA, **arguments)
    text = tree.read_text(encoding="utf-8")
    tree.write_text(text.replace(
        "images {", 'images {\n\t\tbare: bare { data = /incbin/("bare.bin"); };'), encoding="utf-8")
    result = harness.run(
        tree, profile=profile, meanwhile=loads.pull_when_quiet(folder, others=True), options=[
            *loads.options(folder), "--include", harness.BUILD / "guests", "--memory", "2048M"])
    assert result.status == harness.OK, str(result)
    ends = loads.report(result, "alpha")["end"]
    assert ends["sum_sent"]["bytes"] == ends["sum_received"]["bytes"] >= SENT, str(result)
    sent, again = loads.segments(result, "alpha")
    total = loads.accounted(result)
    print(f"{total['sent']} frames, {total['lost']} lost, {total['refused']} refused; "
          f"{sent} segments, {again} of them again; "
          f"{ends['sum_received']['bits_per_second'] / 1e6:.0f} Mbit/s of the machine's time")
    assert again * 100 < sent
    counted_beside(result)
    return total


def counted_beside(result):
    """Counts of all three guests while frames went to and fro."""
    for name in loads.NAMES:
        loads.counted(result, name)
    lines = result.vm("gamma")
    rounds = measured.rounds(len(lines) // 8 + 1)
    assert lines == rounds[:len(lines)]
    begin, end = (result.lines.index(f"[alpha] load {word}") for word in ("begin", "end"))
    assert sum(line.startswith("[gamma] measure: round")
               for line in result.lines[begin:end]) >= 8, str(result)


@pytest.mark.parametrize("properties", ["", 'offload = "on";'])
@pytest.mark.parametrize("profile", ["exact", "interactive"])
def test_load(tmp_path, profile, properties):
    """Of Debian's own kernel."""
    loaded(tmp_path, profile, properties)


def test_the_newest_kernel(tmp_path):
    """Of the newest kernel that Debian has for its guests' release. Its modules are its own, and so
    is the memory that it wants."""
    peer = peers.newest_kernel()
    total = loaded(tmp_path, "exact", kernel="peer/Image", modules=peer / "net-modules")
    assert total["refused"] == 0
