# SPDX-License-Identifier: Apache-2.0
"""The trees of boards in dts/boards: which harts vm-check calls alike, the VM trees beside them,
and how others are refused."""

import json
import re
import subprocess

import pytest

import harness
import hosts
from vm_check import check

pytestmark = pytest.mark.usefixtures("vm_check_built")
FOLDER = harness.ROOT / "dts/boards"
X100 = "0 to 7 are alike: h v sscofpmf ssaia sstc svpbmt zicbom zicboz zicbop"
HARTS = {
    "p550": ["0 to 3 are alike: h sscofpmf"],
    "k3": [X100, "8 to 15 are not used: they have no H extension"],
    "tt-atlantis": [X100],
    "xiangshan-kunminghu": [X100.replace("0 to 7", "0 to 15")],
}
A100_WITH_H = "-t s {} /cpus/cpu@%x riscv,isa-extensions i m a f d c h v sscofpmf sstc zbc zba"


def compiled(folder, board, *edits):
    """The board's tree as a blob, changed by fdtput with these words. {} among them is the blob."""
    blob = folder / f"{board}.dtb"
    done = subprocess.run(["dtc", "-I", "dts", "-O", "dtb", "-o", blob, FOLDER / f"{board}.dts"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for words in edits:
        subprocess.run(["fdtput", *words.format(blob).split()], check=True)
    return blob


def written(folder, text):
    """A VM tree, with small files for its images."""
    for name in ("Image", "initramfs.cpio"):
        (folder / name).write_bytes(bytes(4096))
    file = folder / "changed.dts"
    file.write_text(text, encoding="utf-8")
    return file


def vms(folder, board, old, new):
    """The board's VM tree with another text in it."""
    text = (FOLDER / f"{board}-vms.dts").read_text(encoding="utf-8")
    assert old in text
    return written(folder, text.replace(old, new))


def vms_on(folder, *vcpus):
    """The VM tree of the K3 with these harts for the vcpus of its first VM, and no other."""
    text = (FOLDER / "k3-vms.dts").read_text(encoding="utf-8")
    nodes = "".join(f"vcpu{n} {{ harts = {it}; }};\n" for n, it in enumerate(vcpus))
    return written(folder, text[:text.index("vcpu0")] + nodes + "}; }; };\n")


def harts(text):
    """What vm-check prints of harts, one string a group."""
    lines = text.splitlines()
    assert lines[0].startswith("harts       ")
    groups = [lines[0][12:]]
    for line in lines[1:]:
        if not line.startswith(" " * 12):
            break
        groups.append(line[12:])
    return groups


def accepted(host, tree):
    """What vm-check prints, and its JSON."""
    text, data = check("--host", host, tree), check("--json", "--host", host, tree)
    assert (text.returncode, text.stderr, data.returncode) == (0, "", 0), text
    return text.stdout, json.loads(data.stdout)


def refused(host, tree):
    """The first refusal, and what is printed before it."""
    done = check("--host", host, tree)
    assert done.returncode == 1, done
    return done.stderr.splitlines()[0], done.stdout


@pytest.mark.parametrize("board, groups", HARTS.items())
def test_each_boards_vm_tree(tmp_path, board, groups):
    text, data = accepted(compiled(tmp_path, board), FOLDER / f"{board}-vms.dts")
    assert harts(text) == groups
    assert [len(group["ids"]) for group in data["harts"]] == [
        int(group.split()[2]) - int(group.split()[0]) + 1 for group in groups]
    assert [group["used"] for group in data["harts"]] == ["not used" not in it for it in groups]
    named = {hart for vm in data["vms"] for vcpu in vm["vcpus"] for hart in vcpu["harts"]}
    assert named <= {hart for group in data["harts"] if group["used"] for hart in group["ids"]}
    assert text.splitlines()[-1].startswith(f"{len(data['vms'])} VMs, ")


def test_no_board_is_forgotten():
    assert sorted(HARTS) == sorted(path.name.removesuffix("-vms.dts")
                                   for path in FOLDER.glob("*-vms.dts"))


def test_two_kinds_that_can_both_run_guests(tmp_path):
    """Each is a group. A vcpu may be on any of them, and may not move from one to the other."""
    host = compiled(tmp_path, "k3", *(A100_WITH_H % hart for hart in range(8, 14)),
                    *(f"-t s {{}} /cpus/cpu@{hart:x} status disabled"
                      for hart in (2, 3, 4, 5, 6, 7, 14, 15)))
    text, data = accepted(host, vms_on(tmp_path, "<0>", "<9>"))
    assert harts(text)[0] == X100.replace("0 to 7", "0, 1")
    assert harts(text)[1] == "2 to 7, 14, 15 are not used: the tree disables them"
    words = harts(text)[2]
    assert words.startswith("8 to 13 are alike: h v sscofpmf sstc; unlike hart 0: without ssaia "
                            "svpbmt zicbom zicboz zicbop zicntr zifencei ")
    assert ", with" not in words
    assert [group["ids"] for group in data["harts"]] == [
        [0, 1], [*range(2, 8), 14, 15], list(range(8, 14))]
    why, before = refused(host, vms_on(tmp_path, "<0 9>", "<9>"))
    assert why == "/vms/alpha/vcpu0: harts: harts 0 and 9 have different extensions"
    assert harts(before)[0].startswith("0, 1 are alike: ")
    accepted(host, vms_on(tmp_path, "<8 9>", "<9 10>"))


@pytest.mark.parametrize("edit, words", [
    ("-t s {} /cpus/cpu@2 riscv,isa-extensions i m a f d c h sscofpmf zba zbb zifencei zbs",
     ["0, 1, 3 are alike: h sscofpmf", "2: h sscofpmf; unlike hart 0: with zbs"]),
    ("-t i {} /cpus/cpu@2 riscv,cboz-block-size 64",
     ["0, 1, 3 are alike: h sscofpmf", "2: h sscofpmf; unlike hart 0: other block sizes"]),
    ("-t s {} /cpus/cpu@2 riscv,isa-extensions i m a f d c",
     ["0, 1, 3 are alike: h sscofpmf", "2 is not used: it has no H extension"]),
    ("-t s {} /cpus/cpu@2 status disabled",
     ["0, 1, 3 are alike: h sscofpmf", "2 is not used: the tree disables it"]),
], ids=["more", "blocks", "no-h", "disabled"])
def test_one_hart_that_is_like_no_other(tmp_path, edit, words):
    host = compiled(tmp_path, "p550", edit)
    why, before = refused(host, vms(tmp_path, "p550", "harts = <1>", "harts = <0 2>"))
    reason = words[1].removeprefix("2 is not used: ")
    assert why == "/vms/alpha/vcpu1: harts: " + (
        "harts 0 and 2 have different extensions" if reason == words[1] else
        f"hart 2 cannot be used: {reason}")
    assert harts(before) == words


def test_ids_of_clusters(tmp_path):
    """Ids as they are in the tree, and one that no VM tree can name."""
    host = compiled(tmp_path, "p550", "-t x {} /cpus #address-cells 2",
                    *(f"-t x {{}} /cpus/cpu@{n} reg 0 {0x100 * n + 0x100:x}" for n in range(3)),
                    "-t x {} /cpus/cpu@3 reg 1 0")
    why, before = refused(host, vms_on(tmp_path, "<0>"))
    assert why == "/vms/alpha/vcpu0: harts: this machine has no hart 0"
    assert harts(before) == [
        "256 (0x100), 512 (0x200), 768 (0x300) are alike: h sscofpmf",
        "4294967296 (0x100000000) is not used: a VM tree cannot name an id of more than 32 bits"]
    text, data = accepted(host, vms_on(tmp_path, "<0x100>", "<0x200 0x300>"))
    assert ["  vcpu0     hart 256 (0x100)",
            "  vcpu1     harts 512 (0x200), 768 (0x300); begins on 512 (0x200)"] == [
                line for line in text.splitlines() if line.startswith("  vcpu")]
    assert [vcpu["harts"] for vcpu in data["vms"][0]["vcpus"]] == [[256], [512, 768]]
    assert data["harts"][0]["ids"] == [256, 512, 768]


def test_ids_in_a_row(tmp_path):
    host = compiled(tmp_path, "p550", *(f"-t x {{}} /cpus/cpu@{n} reg {0x100 + n:x}"
                                        for n in range(4)))
    text, _ = accepted(host, vms_on(tmp_path, "<0x101 0x100 0x102>"))
    assert harts(text) == ["256 (0x100) to 259 (0x103) are alike: h sscofpmf"]
    assert ("  vcpu0     harts 256 (0x100) to 258 (0x102); begins on 257 (0x101)"
            in text.splitlines())


def test_harts_that_boot_reads(tmp_path):
    """An id has as many cells as /cpus says, whatever follows it. A node elsewhere is no hart."""
    host = compiled(tmp_path, "p550", "-t x {} /cpus/cpu@3 reg 3 7", "-cp {} /cpu@9",
                    "-t s {} /cpu@9 device_type cpu", "-t x {} /cpu@9 reg 9",
                    "-t s {} /cpu@9 riscv,isa-extensions i m a f d c h sscofpmf")
    text, _ = accepted(host, FOLDER / "p550-vms.dts")
    assert harts(text) == HARTS["p550"]


def test_more_harts_than_tally_runs_on(tmp_path):
    host = hosts.tree(tmp_path / "host.dtb", memory="8G", harts=70, cpu="rva23s64")
    text, data = accepted(host, vms_on(tmp_path, "<63>"))
    assert harts(text) == [X100.replace("0 to 7", "0 to 63").replace(" ssaia", ""),
                           "64 to 69 are not used: Tally runs on 64 harts at most"]
    assert [len(group["ids"]) for group in data["harts"]] == [64, 6]


@pytest.mark.parametrize("board, old, new, words", [
    ("p550", "harts = <3>", "harts = <4>", "/vms/beta/vcpu1: harts: this machine has no hart 4"),
    ("k3", "harts = <7>", "harts = <8>",
     "/vms/beta/vcpu3: harts: hart 8 cannot be used: it has no H extension"),
    ("k3", "harts = <7>", "harts = <16>", "/vms/beta/vcpu3: harts: this machine has no hart 16"),
    ("p550", "(2 << 30)", "(8 << 30)",
     "/vms/beta: memory: the VMs up to this one need 16384 MiB, this machine has 16350 MiB"),
    ("k3", "memory = /bits/ 64 <(4 << 30)>", "memory-at = /bits/ 64 <0x90000000 0x10000000>",
     "/vms/alpha: memory-at: the memory at 0x90000000 is no RAM that Tally uses, which "
     "begins at 0x100000000"),
    ("p550", "kernel = <&debian>", 'interrupts = "aia"; kernel = <&debian>',
     '/vms/alpha: interrupts: "aia": hart 0 has no guest interrupt files'),
])
def test_what_a_board_has_not(tmp_path, board, old, new, words):
    why, _ = refused(compiled(tmp_path, board), vms(tmp_path, board, old, new))
    assert why == words


def test_a_refusal_shows_what_there_is(tmp_path):
    """The harts, and the RAM for VMs, of which none is given."""
    host = compiled(tmp_path, "p550")
    tree = vms(tmp_path, "p550", "(2 << 30)", "(8 << 30)")
    ram = "RAM 0x80000000 to 0x47fffffff: Tally, 0 VMs, 16350 MiB free"
    assert refused(host, tree)[1].splitlines() == ["harts       " + HARTS["p550"][0], ram,
                                                   "Tally lies at 0x80200000: make"]
    data = json.loads(check("--json", "--host", host, tree).stdout)
    assert [group["ids"] for group in data["harts"]] == [[0, 1, 2, 3]]
    assert [bank["free"] >> 20 for bank in data["banks"]] == [16350]


@pytest.mark.parametrize("board, alone, shared", [
    ("p550", False, False), ("k3", True, None), ("tt-atlantis", True, None),
    ("xiangshan-kunminghu", True, None)])
def test_samples_on_each_board(tmp_path, board, alone, shared):
    """None: a trial at boot decides, whether the hart shows guests OF bits of closed counters."""
    host = compiled(tmp_path, board)
    text = (FOLDER / f"{board}-vms.dts").read_text(encoding="utf-8")
    file = written(tmp_path, re.sub("harts = <.>", "harts = <0>", text))
    for tree, wanted in ((FOLDER / f"{board}-vms.dts", alone), (file, shared)):
        found = [vm["pmu"]["at_boot"]["overflow"] for vm in accepted(host, tree)[1]["vms"]]
        assert found == [wanted] * 2


def test_counters_of_the_hosts_pmu(tmp_path):
    """And the fixed ones. Without the maps, which firmware takes out, boot counts them."""
    tree = vms(tmp_path, "p550", "pmu-counters = <3 4 5 6>;", "")
    text, data = accepted(compiled(tmp_path, "p550"), tree)
    assert text.count("  pmu       counters 0, 2 to 6; reads direct\n") == 2
    assert data["vms"][0]["pmu"]["counters"] == [0, 2, 3, 4, 5, 6]
    host = compiled(tmp_path, "p550", "-d {} /pmu riscv,event-to-mhpmcounters",
                    "-d {} /pmu riscv,raw-event-to-mhpmcounters")
    text, data = accepted(host, tree)
    assert text.count("  pmu       counters as boot counts them; reads direct\n") == 2
    assert data["vms"][0]["pmu"]["counters"] is None
    tree = vms(tmp_path, "p550", "<3 4 5 6>", "<3 31>")
    assert accepted(host, tree)[1]["vms"][0]["pmu"]["counters"] == [3, 31]
    why = check("--counters", "0x7fffd", "--host", host, tree).stderr.splitlines()[0]
    assert why == "/vms/alpha: pmu-counters: this machine has no counter 31"


def under_pmu(text, vm):
    """The lines under a VM's `pmu`."""
    lines = text.split(f"\n{vm}\n")[1].splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("  pmu "))
    end = next(n for n in range(at + 1, len(lines)) if not lines[n].startswith(" " * 12))
    return [line[12:] for line in lines[at + 1:end]]


@pytest.mark.parametrize("board, old, new, line", [
    ("p550", "<3 4 5 6>", "<3 4 5 6 19>",
     "counter 19 is not in the host's /pmu: if the hart lacks it, boot refuses the tree"),
    ("p550", "<3 4 5 6>", "<5 6 0 20 19 21>",
     "counters 19 to 21 are not in the host's /pmu: if the hart lacks one, boot refuses the tree"),
    ("xiangshan-kunminghu", "kernel = <&debian>;",
     "pmu-events = <1 2 3 0x10000 0xf0000>; kernel = <&debian>;",
     "events 0x3, 0x10000: the host's /pmu has no counter of this VM for them: refused to the "
     "guest"),
    ("xiangshan-kunminghu", "kernel = <&debian>;",
     "pmu-events = <1 0x20000>; kernel = <&debian>;",
     "raw events: the host's /pmu has no counter for them: refused to the guest"),
    ("p550", "pmu-events = <4 5 6>,", "pmu-events = <4 5 8>,",
     "event 0x8: the VM tree's /pmu has no counter of this VM for it: refused to the guest"),
    ("p550", 'pmu-counters = <3 4 5 6>;\n\t\t\tpmu-events = <4 5 6>, "p550:instructions", '
     '"p550:memory"', "pmu-counters = <0>; pmu-events = <4>",
     "event 0x4: the host's /pmu has no counter of this VM for it: refused to the guest"),
])
def test_what_the_hosts_pmu_does_not_name(tmp_path, board, old, new, line):
    """Boot may find it all the same, so it is no refusal."""
    host = compiled(tmp_path, board)
    text, _ = accepted(host, FOLDER / f"{board}-vms.dts")
    assert not any(words in text for words in ("not in the host", "counter of this VM", "raw ev"))
    text, data = accepted(host, vms(tmp_path, board, old, new))
    for number, vm in enumerate(("alpha", "beta")):
        assert under_pmu(text, vm).count(line) == 1
        assert data["vms"][number]["pmu"]["at_boot"]["limits"] == under_pmu(text, vm)


def test_counters_that_another_vm_asks_for(tmp_path):
    """They are none of those that a VM has by default."""
    text = (FOLDER / "p550-vms.dts").read_text(encoding="utf-8")
    first, second = text.split("beta {")
    tree = written(tmp_path, first.replace("<3 4 5 6>", "<3 19>") + "beta {" +
                   second.replace("pmu-counters = <3 4 5 6>;", ""))
    _, data = accepted(compiled(tmp_path, "p550"), tree)
    assert [vm["pmu"]["counters"] for vm in data["vms"]] == [[3, 19], [0, 2, 3, 4, 5, 6]]


def test_no_counters_and_why(tmp_path):
    host = compiled(tmp_path, "p550", *(
        f"-t s {{}} /cpus/cpu@{hart} riscv,isa-extensions i m a f d c h" for hart in (0, 1)))
    text, data = accepted(host, FOLDER / "p550-vms.dts")
    assert "  pmu       counters none; reads direct\n" in text
    assert "no hardware counters: hart 0 has no sscofpmf" in under_pmu(text, "alpha")
    assert [vm["pmu"]["counters"] for vm in data["vms"]] == [[], [3, 4, 5, 6]]
    text, data = accepted(host, vms(tmp_path, "p550", "<3 4 5 6>", "<>"))
    assert text.count("  pmu       counters none, because pmu-counters is empty; reads d") == 2


def test_vcpus_on_harts_of_two_kinds(tmp_path):
    """The VM has what all of them have, with the same sizes of blocks."""
    host = compiled(tmp_path, "k3", A100_WITH_H % 9, A100_WITH_H % 10)
    text, data = accepted(host, vms_on(tmp_path, "<0>", "<9 10>"))
    line = next(line for line in text.splitlines() if line.startswith("  lacks "))
    assert line.startswith("  lacks     ssaia svpbmt zicbom zicboz zicbop zicntr ")
    assert line.endswith(": not all of its harts have them alike")
    assert line[12:].split(":")[0].split() == data["vms"][0]["lacks"]
    assert "  vcpu1     harts 9, 10; begins on 9" in text.splitlines()
    for same in (["<0>", "<1>"], ["<9>", "<10>"]):
        text, data = accepted(host, vms_on(tmp_path, *same))
        assert "\n  lacks " not in text and data["vms"][0]["lacks"] == []
    host = compiled(tmp_path, "p550", "-t s {} /cpus/cpu@1 riscv,isa-extensions "
                    "i m a f d c h sscofpmf")
    text, data = accepted(host, FOLDER / "p550-vms.dts")
    assert data["vms"][1]["lacks"] == [] != data["vms"][0]["lacks"]


def test_the_events_of_kunminghu(tmp_path):
    """The line in the comment of its VM tree, for a chip."""
    text = (FOLDER / "xiangshan-kunminghu-vms.dts").read_text(encoding="utf-8")
    line = re.search(r"\*\s+(pmu-events = .+;)", text)[1]
    tree = vms(tmp_path, "xiangshan-kunminghu", "memory =", f"{line} memory =")
    text, data = accepted(compiled(tmp_path, "xiangshan-kunminghu"), tree)
    assert data["core"] == "kunminghu" and text.count("\n  events    0x2 0x5 0x6\n") == 2


def test_tallys_bank(tmp_path):
    """The lowest, if none is where Tally is built for, though the tree has another before it."""
    why, _ = refused(compiled(tmp_path, "tt-atlantis"), vms(
        tmp_path, "tt-atlantis", "memory = /bits/ 64 <(512 << 20)>",
        "memory-at = /bits/ 64 <0x1000000 0x200000>"))
    assert why == ("/vms/alpha: memory-at: the memory at 0x1000000 begins in what Tally keeps of "
                   "RAM, up to 0x2000000")


# Of Atlantis: the firmware is in the other bank.
FIRMWARE_ABOVE = ["-r {} /reserved-memory/mmode_resv1@40000",
                  "-t x {} /reserved-memory/mmode_resv0@0 reg 1 80000000 0 40000"]


def kept(name, reg):
    """What keeps memory, without no-map."""
    return ["-cp {} /reserved-memory/" + name, f"-t x {{}} /reserved-memory/{name} reg {reg}"]


def tallys(host, *options):
    """Where the bank of RAM begins in which Tally lies."""
    done = check("--json", *options, "--host", host, FOLDER / "tt-atlantis-vms.dts")
    assert done.returncode == 0, done.stderr
    return [hex(bank["base"]) for bank in json.loads(done.stdout)["banks"] if bank["tally"]]


def test_tally_is_where_the_firmware_is(tmp_path):
    """That is memory which nobody may map. What a driver has says nothing of it."""
    edits = [*FIRMWARE_ABOVE, *kept("frames@100000", "0 100000 0 80000")]
    host = compiled(tmp_path, "tt-atlantis", *edits)
    assert tallys(host) == ["0x180000000"]
    assert tallys(host, "--board-ram", "0x0") == ["0x0"]


def test_tally_does_not_lie_in_what_is_kept(tmp_path):
    """Not even beside the firmware. If the user says that it does, vm-check says what boot says."""
    edits = [*FIRMWARE_ABOVE, *kept("video@181000000", "1 81000000 0 1000")]
    host = compiled(tmp_path, "tt-atlantis", *edits)
    assert tallys(host) == ["0x0"]
    for at, words in (
            ("0x180000000", "/reserved-memory: video@181000000: 0x181000000 lies in Tally or its "
             "tables"),
            ("0x80000000", "no memory node holds Tally's own address")):
        done = check("--board-ram", at, "--host", host, FOLDER / "tt-atlantis-vms.dts")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"vm-check: {host}: {words}\n"
    host = compiled(tmp_path, "tt-atlantis", *edits, *kept("dsp@1000000", "0 1000000 0 1000"))
    done = check("--host", host, FOLDER / "tt-atlantis-vms.dts")
    assert (done.returncode, done.stdout) == (2, "")
    assert "/reserved-memory: video@181000000: 0x181000000 lies in Tally or" in done.stderr


@pytest.mark.parametrize("board, edits, options, base", [
    ("p550", [], [], 0x80000000),
    ("k3", [], [], 0x100000000),
    ("tt-atlantis", [], [], 0),
    ("p550", ["-t x {} /memory@80000000 reg 0 80000000 2 0", "-r {} /reserved-memory"],
     ["--board-ram", "0x90000000"], 0x90000000),
    # Two nodes that touch are one bank, and the firmware is in the second.
    ("k3", ["-cp {} /memory@80000000", "-t s {} /memory@80000000 device_type memory",
            "-t x {} /memory@80000000 reg 0 80000000 0 80000000"], [], 0x100000000),
    # The tree leaves out the firmware's memory.
    ("p550", ["-t x {} /memory@80000000 reg 0 80040000 3 0", "-r {} /reserved-memory"], [],
     0x80000000),
    # The firmware has a bank that is too small for Tally's tables.
    ("k3", ["-t x {} /memory@100000000 reg 1 0 0 1000000 2 0 4 0"], [], 0x200000000),
], ids=["p550", "k3", "atlantis", "told", "touching", "left-out", "small"])
def test_for_which_ram_tally_is_built(tmp_path, board, edits, options, base):
    """As `make` takes it, wherever the bank begins."""
    host = compiled(tmp_path, board, *edits)
    done = check(*options, "--host", host, FOLDER / f"{board}-vms.dts")
    assert (done.returncode, done.stderr) == (0, "")
    words = "" if base == 0x80000000 else f" BOARD_RAM={base:#x}"
    assert done.stdout.splitlines()[-3] == f"Tally lies at {base + 0x200000:#x}: make{words}"
    done = check("--json", *options, "--host", host, FOLDER / f"{board}-vms.dts")
    assert json.loads(done.stdout)["board_ram"] == base


def clusters(folder):
    """64 harts in four clusters of two kinds, ids from 0x100 on, a clock of 4 GHz in their own
    nodes, two of them broken; memory in two nodes, one of two ranges."""
    host = hosts.tree(folder / "host.dtb", memory="8G", harts=64, cpu="rva23s64")
    wanted = [["-d", "/cpus", "timebase-frequency"]]
    for n in range(64):
        cpu = f"/cpus/cpu@{n}"
        wanted += [["-t", "x", cpu, "reg", f"{0x100 * (n // 16 + 1) + n % 16:x}"],
                   ["-t", "i", cpu, "timebase-frequency", "4000000000"]]
        if n >= 32:
            wanted.append(["-t", "s", cpu, "riscv,isa-extensions",
                           *"i m a f d c h sscofpmf sstc zicntr".split()])
    wanted += [["-t", "s", f"/cpus/cpu@{n}", "status", "fail"] for n in (15, 47)]
    wanted += [["-t", "s", "/cpus/cpu@1", "status", "okay"],
               ["-t", "x", "/memory@80000000", "numa-node-id", "0"],
               ["-cp", "/memory@4080000000"],
               ["-t", "s", "/memory@4080000000", "device_type", "memory"],
               ["-t", "x", "/memory@4080000000", "reg", *"40 80000000 8 0 50 0 8 0".split()],
               ["-t", "x", "/memory@4080000000", "numa-node-id", "1"]]
    for words in wanted:
        at = 2 if words[0] == "-t" else 1
        subprocess.run(["fdtput", *words[:at], host, *words[at:]], check=True)
    return host


def test_a_board_of_clusters(tmp_path):
    text, data = accepted(clusters(tmp_path), vms_on(tmp_path, "<0x101>", "<0x300 0x301>"))
    assert harts(text)[0].startswith(
        "256 (0x100) to 270 (0x10e), 512 (0x200) to 527 (0x20f) are alike: h v sscofpmf sstc ")
    assert harts(text)[1] == "271 (0x10f), 783 (0x30f) are not used: the tree disables them"
    assert harts(text)[2].startswith(
        "768 (0x300) to 782 (0x30e), 1024 (0x400) to 1039 (0x40f) are alike: h sscofpmf sstc; "
        "unlike hart 256 (0x100): without v svpbmt ")
    assert [len(group["ids"]) for group in data["harts"]] == [31, 2, 31]
    assert [(bank["base"], bank["tally"]) for bank in data["banks"]] == [
        (0x80000000, True), (0x4080000000, False), (0x5000000000, False)]
    assert "lacks     v svpbmt " in text


def test_a_board_on_which_nothing_runs(tmp_path):
    """Its harts are told all the same."""
    host = compiled(tmp_path, "p550", "-t s {} /cpus/cpu@0 status disabled", *(
        f"-t s {{}} /cpus/cpu@{hart} riscv,isa-extensions i m a f d c" for hart in (1, 2, 3)))
    done = check("--host", host, FOLDER / "p550-vms.dts")
    assert (done.returncode, harts(done.stdout)) == (2, [
        "0 is not used: the tree disables it", "1 to 3 are not used: they have no H extension"])
    assert done.stderr == f"vm-check: {host}: has no hart that can run guests\n"


@pytest.mark.parametrize("clock", ["1000", "4000000000"])
def test_the_slowest_and_the_fastest_clock(tmp_path, clock):
    accepted(compiled(tmp_path, "p550", f"-t i {{}} /cpus timebase-frequency {clock}"),
             FOLDER / "p550-vms.dts")


def test_counters_with_holes(tmp_path):
    host = compiled(tmp_path, "p550", "-t x {} /pmu riscv,event-to-mhpmcounters "
                    "1 1 19 2 2 1c 10019 10019 3c00", "-d {} /pmu riscv,raw-event-to-mhpmcounters")
    text, data = accepted(host, vms(tmp_path, "p550", "pmu-counters = <3 4 5 6>;", ""))
    assert text.count("  pmu       counters 0, 2 to 4, 10 to 13; reads direct\n") == 2
    assert data["vms"][0]["pmu"]["counters"] == [0, 2, 3, 4, 10, 11, 12, 13]


def test_guest_interrupt_files(tmp_path):
    """The tree says how many there may be. A hart that no IMSIC interrupts has none."""
    tree = vms(tmp_path, "xiangshan-kunminghu", "kernel = <&debian>",
               'interrupts = "aia"; kernel = <&debian>')
    text, _ = accepted(compiled(tmp_path, "xiangshan-kunminghu"), tree)
    assert text.count(
        "  interrupts aia: a guest interrupt file for each vcpu, of at most 7 a hart\n"
        "            if the hart has fewer than its vcpus need: refused\n") == 2
    host = compiled(tmp_path, "xiangshan-kunminghu",
                    "-t x {} /cpus/cpu@0/interrupt-controller phandle 999")
    why, _ = refused(host, tree)
    assert why == '/vms/alpha: interrupts: "aia": hart 0 has no guest interrupt files'


@pytest.mark.parametrize("edits, words", [
    (["-d {} /cpus timebase-frequency"], "no timebase-frequency in /cpus or a hart's node"),
    (["-t x {} /cpus timebase-frequency 1"],
     "cpus: timebase-frequency is no clock that Tally knows"),
    (["-t x {} /cpus/cpu@3 timebase-frequency 1000000"],
     "cpu@3: its timebase-frequency is not that of others"),
])
def test_clocks_that_boot_refuses(tmp_path, edits, words):
    host = compiled(tmp_path, "p550", *edits)
    done = check("--host", host, FOLDER / "p550-vms.dts")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"vm-check: {host}: {words}\n")


@pytest.mark.parametrize("path, words", [
    ("/soc/serial@50900000", "the host tree names no UART that Tally knows"),
    ("/soc/interrupt-controller@c000000", "no interrupt controller that Tally knows"),
])
def test_a_board_without_input(tmp_path, path, words):
    """In boot's words. There is none to tell if all is there."""
    host = compiled(tmp_path, "p550", f"-t s {{}} {path} compatible nobody,knows")
    text, data = accepted(host, FOLDER / "p550-vms.dts")
    assert f"console input by nothing: {words}" in text.splitlines()
    assert data["console_input"] is False
    text, data = accepted(compiled(tmp_path, "p550"), FOLDER / "p550-vms.dts")
    assert "console input" not in text and data["console_input"] is True


@pytest.mark.parametrize("edit", ["-d {} /soc/serial@50900000 interrupts",
                                  "-t i {} /soc/serial@50900000 interrupts 521"])
def test_a_uart_without_interrupts(tmp_path, edit):
    text, data = accepted(compiled(tmp_path, "p550", edit), FOLDER / "p550-vms.dts")
    assert ("console input by nothing: the UART has no interrupt at the controller that Tally knows"
            in text.splitlines())
    assert data["console_input"] is False


def test_ram_that_is_not_used(tmp_path):
    """Before Tally, if nothing tells where the firmware is there."""
    tree = FOLDER / "p550-vms.dts"
    host = compiled(tmp_path, "p550", "-r {} /reserved-memory")
    words = ("258 MiB of RAM before Tally are not used: the host's tree does not say where in them "
             "the firmware is")
    where = ("--board-ram", "0x90000000", "--host", host, tree)
    assert words in check(*where).stdout.splitlines()
    assert json.loads(check("--json", *where).stdout)["unused"] == [words]
    text, data = accepted(host, tree)
    assert "not used" not in text and data["unused"] == []


def test_a_tree_without_memory(tmp_path):
    """As in Linux's sources, where the firmware is to add the node."""
    host = compiled(tmp_path, "p550", "-r {} /memory@80000000")
    done = check("--host", host, FOLDER / "p550-vms.dts")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (f"vm-check: {host}: names no memory for Tally; the tree that the "
                           "firmware passes on does, in Linux /sys/firmware/fdt\n")
