# SPDX-License-Identifier: Apache-2.0
"""QEMU's `virt` with trees that say what those of boards do. The machine cannot have another
timebase, nor a UART whose registers are apart: tests/host/test_host_dt.c has these."""

import re
import subprocess

import pytest

import bare_guests
import harness
import hosts
from measured import EXPECTED, MEASURE
from memory_at import KEPT, reserved
from vm_check import check

CPUS = "/cpus/cpu@"


def boot(folder, edits, guest=MEASURE, harts=1, **arguments):
    qemu = hosts.qemu(folder, *hosts.changed(folder, edits, harts=harts))
    options = ["--memory", "1G", "--qemu", qemu]
    if harts > 1:
        options += ["--harts", harts]
    return bare_guests.boot(folder, {"alpha": guest}, options=options, **arguments)


def boots_first(cpu):
    """OpenSBI's boot hart would be the first that comes."""
    config = "/chosen/opensbi-config"
    return [["-cp", "host.dtb", config],
            ["-t", "s", "host.dtb", config, "compatible", "opensbi,config"],
            ["-t", "x", "host.dtb", cpu, "phandle", "1001"],
            ["-t", "x", "host.dtb", config, "cold-boot-harts", "1001"]]


@pytest.mark.parametrize("first", ["0", "2"])
def test_harts_that_are_disabled_or_lack_h(tmp_path, first):
    """One is not seen at all, the other is not used. If the firmware takes that for its boot hart,
    one that can run guests is started in its place."""
    edits = [["-t", "s", "host.dtb", CPUS + "1", "status", "disabled"],
             ["-d", "host.dtb", CPUS + "2", "riscv,isa-extensions"],
             ["-t", "s", "host.dtb", CPUS + "2", "riscv,isa", "rv64imafdc_sstc"],
             *boots_first(CPUS + first)]
    result = boot(tmp_path, edits, "kind=idle ticks=1000", harts=3, profile="smp")
    assert re.search(rf"^Boot HART ID +: {first}\s*$", str(result), re.M)
    assert "hart 2: not used: it has no H extension" in result.own
    assert not any("hart 1" in line for line in result.own)
    assert result.own[-1] == "all VMs ended"


def test_vm_check_knows_harts_without_h(tmp_path):
    """A vcpu on one of them is refused in the words of the boot; and so is a board of none else."""
    edits = [["-d", "host.dtb", CPUS + "1", "riscv,isa-extensions"],
             ["-t", "s", "host.dtb", CPUS + "1", "riscv,isa", "rv64imafdc_sstc"]]
    words = "/vms/alpha/vcpu0: harts: hart 1 cannot be used: it has no H extension"
    result = boot(tmp_path, edits, harts=2, profile="smp", vcpus=("1",), status=harness.REFUSED)
    assert result.own[-1] == "refused: " + words, str(result)
    arguments = ("--host", tmp_path / "host.dtb", "--include", harness.BUILD / "guests",
                 tmp_path / "bare.dts")
    done = check(*arguments)
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, words)
    hosts.changed(tmp_path, [edit for edit in edits for edit in
                             (edit, [word.replace("@1", "@0") for word in edit])], harts=2)
    done = check(*arguments)
    assert done.returncode == 2 and done.stderr == (
        f"vm-check: {tmp_path}/host.dtb: has no hart that can run guests\n"), done.stderr


def test_memory_that_cannot_be_read(tmp_path):
    """Boot goes on without it, and vm-check tells it."""
    edits = [*reserved((0x90000000, 0x1000)),
             ["-t", "x", "host.dtb", KEPT + "90000000", "reg", "0", "90000000", "1000"]]
    words = "kept@90000000: reg has cells that are no address and size"
    assert boot(tmp_path, edits).vm("alpha") == EXPECTED
    host = tmp_path / "host.dtb"
    done = check("--host", host, "--include", harness.BUILD / "guests", tmp_path / "bare.dts")
    assert (done.returncode, done.stderr) == (0, f"vm-check: {host}: {words}\n")


def test_a_vcpu_on_a_hart_that_is_disabled(tmp_path):
    """Boot and vm-check say so."""
    edits = [["-t", "s", "host.dtb", CPUS + "1", "status", "disabled"]]
    words = "/vms/alpha/vcpu0: harts: hart 1 cannot be used: the tree disables it"
    result = boot(tmp_path, edits, harts=2, profile="smp", vcpus=("1",), status=harness.REFUSED)
    assert result.own[-1] == "refused: " + words, str(result)
    done = check("--host", tmp_path / "host.dtb", "--include", harness.BUILD / "guests",
                 tmp_path / "bare.dts")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, words)


def test_vm_check_knows_how_many_harts_there_may_be(tmp_path):
    """Of seventy that can run guests the first 64 do, whatever their ids are."""
    hosts.tree(tmp_path / "host.dtb", harts=70)
    subprocess.run(["fdtput", "-t", "x", tmp_path / "host.dtb", CPUS + "63", "reg", "ffffffff"],
                   check=True)
    tree = tmp_path / "bare.dts"
    for hart, good in ((62, True), (63, False), (64, False), (0xffffffff, True)):
        tree.write_text(bare_guests.tree({"alpha": MEASURE}, vcpus=(str(hart),)))
        done = check("--host", tmp_path / "host.dtb", "--include", harness.BUILD / "guests", tree)
        assert done.returncode == int(not good), done.stderr
        shown = f"{hart} ({hart:#x})" if hart >= 0x100 else hart
        assert good == (f"  vcpu0     hart {shown}" in done.stdout.splitlines())
        if not good:
            words = ("this machine has no hart 63" if hart == 63 else
                     "hart 64 cannot be used: Tally runs on 64 harts at most")
            assert done.stderr.splitlines()[0] == "/vms/alpha/vcpu0: harts: " + words


def test_memory_in_several_nodes(tmp_path):
    """Two that touch are one bank; a third is another. All of Tally's is used, though some is kept
    at its end."""
    edits = [["-t", "x", "host.dtb", "/memory@80000000", "reg", "0", "80000000", "0", "10000000",
              "0", "b0000000", "0", "8000000"],
             ["-cp", "host.dtb", "/memory@90000000"],
             ["-t", "s", "host.dtb", "/memory@90000000", "device_type", "memory"],
             ["-t", "x", "host.dtb", "/memory@90000000", "reg", "0", "90000000", "0", "10000000"],
             *reserved((0x9fe00000, 0x200000), (0x9fd80000, 0x1000))]
    result = boot(tmp_path, edits)
    assert any("; 640 MiB of RAM; " in line for line in result.own), str(result)
    assert not [line for line in result.own if "not used" in line]
    assert result.vm("alpha") == EXPECTED


def test_vm_check_takes_tallys_bank(tmp_path):
    """Wherever it is among the others in the tree: the one that begins where Tally is built for."""
    edits = [["-t", "x", "host.dtb", "/memory@80000000", "reg", "0", "b0000000", "0", "8000000",
              "0", "80000000", "0", "20000000"]]
    result = boot(tmp_path, edits)
    assert any("; 640 MiB of RAM; " in line for line in result.own), str(result)
    done = check("--host", tmp_path / "host.dtb", "--include", harness.BUILD / "guests",
                 tmp_path / "bare.dts")
    assert done.stdout.splitlines()[-1] == "1 VM, 16 MiB of the 606 MiB there are for VMs", done


def test_memory_that_tally_needs_is_kept(tmp_path):
    result = boot(tmp_path, reserved((0x81000000, 0x1000)), status=harness.DEPENDENCY)
    assert result.own == ["the platform: host tree: /reserved-memory: kept@81000000: 0x81000000 "
                          "lies in Tally or its tables"]


def with_loader(folder, source, *options):
    """tools/run's options for a program that runs in S-mode before Tally, which starts nothing by
    itself."""
    elf = folder / "loader.elf"
    subprocess.run(["riscv64-linux-gnu-gcc", "-nostdlib", "-static", "-Wl,-N,-Ttext=0x90000000",
                    "-Wl,--build-id=none,--no-warn-rwx-segments", "-o", elf,
                    harness.ROOT / "tests/qemu/programs" / source], check=True)
    return ["--kernel", elf, "--qemu", hosts.qemu(folder, *options)]


def test_the_firmwares_console(tmp_path):
    """The loader makes the UART one that Tally does not know: it prints through the firmware."""
    tally = f"loader,file={harness.BUILD / 'tally.elf'}"
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE}, options=with_loader(
        tmp_path, "other_uart.S", "-device", tally))
    assert any(line.endswith("; console input by nothing: the host tree names no UART that Tally "
                             "knows") for line in result.own), str(result)
    assert result.vm("alpha") == EXPECTED


def test_loaded_elsewhere(tmp_path):
    """As on a board whose RAM begins elsewhere."""
    tally = f"loader,file={harness.BUILD / 'tally.bin'},addr=0x84200000"
    result = bare_guests.boot(tmp_path, {"alpha": MEASURE}, options=with_loader(
        tmp_path, "elsewhere.S", "-device", tally), status=harness.DEPENDENCY)
    assert result.own == ["the platform: Tally was not loaded to the address that it is built for, "
                          "2 MiB above BOARD_RAM"]


def built_for(ram):
    """tools/run's options for a Tally that is built for RAM there, of which elsewhere.S knows."""
    subprocess.run(["make", "-s", f"BOARD_RAM={ram}", f"build/board-{ram}/tally.bin"],
                   cwd=harness.ROOT, check=True)
    return f"loader,file={harness.BUILD / f'board-{ram}/tally.bin'},addr=0x84200000"


@pytest.mark.long
@pytest.mark.parametrize("cut", [False, True], ids=["one bank", "two banks"])
def test_built_for_another_address(tmp_path, cut):
    """RAM before it is for VMs, because the firmware says where it is; and so is a bank below."""
    edits = [["-t", "x", "host.dtb", "/memory@80000000", "reg", "0", "80000000", "0", "2000000",
              "0", "84000000", "0", "10000000"]] if cut else []
    result = bare_guests.boot(
        tmp_path, {"alpha": MEASURE, "beta": MEASURE}, options=with_loader(
            tmp_path, "elsewhere.S", "-device", built_for("0x84000000"),
            *hosts.changed(tmp_path, edits, memory="1G")) + ["--memory", "1G"],
        own={"beta": f"memory-at = /bits/ 64 <0x80200000 {16 << 20:#x}>;"})
    if cut:
        assert "RAM 0x80000000 to 0x81ffffff: 1 VM, 14 MiB free" in result.own, str(result)
    assert not [line for line in result.own if "not used" in line]
    assert result.vm("alpha") == result.vm("beta") == EXPECTED
