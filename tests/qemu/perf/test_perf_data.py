# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms export: Debian's perf opens what it writes without an option, and finds there what
the samples have: names, callers, code, VMs, vcpus, harts and times; and never a name of this
computer's kernel."""

import collections
import json
import math
import os
import re
import subprocess

import pytest

import harness
import kernels
from kernels import program
from operators import MS
from perf_runs import TOOL
from perflib import kallsyms, symbols
import replayed

NS = 1000000000
MOVED = 0x1400000
SPACE = 0x8000000000081234
OBJDUMP = "riscv64-linux-gnu-objdump"


def sample(n, **fields):
    """The one that came n-th."""
    return {"type": "sample", "timestamp": 3 * NS + 1000 * n, "vm": "alpha", "vcpu": 0,
            "event": "cycles", "hart": 0, "period": 1000, "mode": "kernel", "masked": False,
            "satp": f"{SPACE:#x}", **fields}


def some(kernel, vm="alpha", slide=0, first=0, **fields):
    """Each function of the first 40 as often as its number, with two callers, of all returns."""
    found = []
    for i in range(40):
        for j in range(i):
            start = kernel.functions[i][0] + slide
            callers = [kernel.functions[i + 1 + n][0] + slide + kernels.RETURNS[(i + n + j) % 3]
                       for n in range(2)]
            found.append(sample(first + len(found), vm=vm, ip=f"{start + 2 * (j % 32):#x}",
                                callchain=[f"{at:#x}" for at in callers], **fields))
    return found


class Perf:
    """A user who has this as home, and files of samples."""

    def __init__(self, home):
        self.home = home
        self.environment = {**os.environ, "HOME": str(home), "PAGER": "cat"}
        self.environment.pop("CROSS_COMPILE", None)

    def file(self, name, data):
        path = self.home / name
        path.write_bytes(data)
        return path

    def samples(self, objects, vms=("alpha",), events=("cycles",), period="1000"):
        head = {"tally-samples": 1, "vms": vms, "events": events, "period": period}
        return self.file("samples", "".join(
            json.dumps(o) + "\n" for o in [head, *objects]).encode())

    def export(self, file, *words, status=0):
        """What was said, of which kind the status tells."""
        done = subprocess.run([TOOL, "export", file, *words], cwd=self.home, text=True,
                              env=self.environment, capture_output=True, check=False)
        assert done.returncode == status, done
        return done.stderr if status else done.stdout

    def run(self, *words):
        """What perf has printed, without its remarks."""
        done = subprocess.run(["perf", *words], cwd=self.home, env=self.environment, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL,
                              timeout=harness.GUARD)
        assert done.returncode == 0, done
        assert "kptr_restrict" not in done.stderr and "not supported" not in done.stderr, done
        return [line for line in done.stdout.splitlines() if line and not line.startswith("#")]

    def report(self, *words):
        """{(VM, function): how many samples}"""
        lines = self.run("report", "--stdio", "--no-children", "-g", "none", "-F",
                         "sample,comm,sym", *words)
        rows = [re.fullmatch(r"\s*(\d+)\s+(.*?)\s+\[([k.])\] (.*?)\s*", line) for line in lines]
        return collections.Counter({(row[2], row[4]): int(row[1]) for row in rows})


@pytest.fixture
def perf(tmp_path):
    return Perf(tmp_path)


@pytest.fixture
def kernel():
    """It cannot relocate itself."""
    return kernels.built(kaslr=False)


def image(perf, kernel):
    return ["--symbols", perf.file("Image", kernel.image)]


def expected(vm="alpha"):
    return {(vm, f"function_{i}"): i for i in range(1, 40)}


def test_report(perf, kernel):
    """The functions of two VMs with one kernel, and who called them."""
    objects = some(kernel) + some(kernel, vm="beta")[:10]
    said = perf.export(perf.samples(objects, ["alpha", "beta"]), *image(perf, kernel))
    assert said == "perf.data: 790 samples of alpha, beta\n"
    found = {**expected(), **{("beta", f"function_{i}"): i for i in range(1, 5)}}
    assert perf.report() == perf.report("-i", "perf.data") == found
    # All in the kernel's own file.
    lines = perf.run("report", "--stdio", "--no-children", "-g", "none", "--sort", "dso")
    assert [line.split() for line in lines] == [["100.00%", "[kernel.kallsyms]"]]
    callers = perf.run("report", "--stdio", "--no-children", "-g", "callee", "--sort", "sym", "-S",
                       "function_39")
    assert [line.split("--")[-1].strip(" |-") for line in callers[2:]] == [
        "function_40", "function_41"]


def test_script(perf, kernel):
    """Each field of each sample."""
    objects = [sample(0, ip=f"{kernel.functions[4][0] + 6:#x}", hart=3, vcpu=2),
               sample(1, ip=f"{kernel.functions[5][0]:#x}", event="instructions:u", vm="beta",
                      callchain=[f"{kernel.functions[6][0]:#x}", "0x12"],
                      satp="0x0"),
               sample(2, ip="0x10078", mode="user", callchain=["0x10100"], period=17)]
    perf.export(perf.samples(objects, ["alpha", "beta"], ["cycles", "instructions:u"], "1000hz"),
                *image(perf, kernel))
    lines = perf.run("script", "-F", "comm,pid,tid,cpu,time,event,period,ip,sym,symoff")
    names = [f"{at:x} {name}" for at, name in (
        (kernel.functions[4][0] + 6, "function_4+0x6"), (kernel.functions[5][0], "function_5+0x0"),
        # The call at the end of function_5 does not return: it is not function_6 that called.
        (kernel.functions[6][0] - 1, "function_5+0x3f"))]
    assert [" ".join(line.split()) for line in lines] == [
        "alpha 1000/1002 [003] 3.000000: 1000 cycles:", names[0],
        "beta 2000/2000 [000] 3.000001: 1000 instructions:u:", names[1], names[2], "12 [unknown]",
        "alpha 1000/1000 [000] 3.000002: 17 cycles:", "10078 [unknown]", "10100 [unknown]"]
    header = "\n".join(subprocess.run(
        ["perf", "report", "--header-only"], cwd=perf.home, env=perf.environment, text=True,
        capture_output=True, check=True).stdout.splitlines())
    assert "# arch : riscv64" in header
    assert kernels.BUILD_ID.hex() in perf.run("buildid-list", "-i", "perf.data")[0]


ERRNO = 0xffffffffffffff9c  # AT_FDCWD: openat's first argument, where the kernel was entered
EDGE = 0xfffffffffffff000   # perf takes what is above for its marks
STACK, LINEAR, MODULE, PROCESS = (0xffffffc80001bd70, 0xffffffd801234560, 0xffffffff01000010,
                                  0x3fd0000010)


def chains(perf):
    """Of each sample, the addresses that perf has, its own first."""
    found = []
    for line in perf.run("script", "-F", "time,ip"):
        word = line.split()[0]
        if word.endswith(":"):
            found.append([])
        else:
            found[-1].append(int(word, 16))
    return found


def test_a_word_that_perf_takes_for_a_mark(perf, kernel):
    """It would drop the whole stack; so it is not there, whether or not the kernel is known."""
    words = [0x80300010, ERRNO, 0x80300020, EDGE, EDGE + 1, (1 << 64) - 1]
    objects = [sample(0, ip="0x80200000", callchain=[f"{word:#x}" for word in words]),
               sample(1, ip=f"{ERRNO:#x}", callchain=["0x80300010"]), sample(2, ip=f"{ERRNO:#x}")]
    for known in ((), image(perf, kernel)):
        said = perf.export(perf.samples([dict(o, satp="0x0") for o in objects]), *known)
        assert said.splitlines()[1:] == ["perf.data: without 3 words of callers where no code is"]
        assert chains(perf) == [[0x80200000, 0x80300010, 0x80300020, EDGE], [0x80300010], []]


def test_words_that_no_text_holds(perf, kernel):
    """They are left out where the text is known, and there only."""
    first, last = kernel.functions[0][0], kernel.functions[-1][0]
    head, data = kernels.BASE + 16, last + 64 + 0x100
    end = dict((name, at) for at, _, name in kernel.symbols)["_end"]
    words = [first + 8, head, data, end, STACK, LINEAR, MODULE, PROCESS, 0x12, last + 64,
             end - (1 << 31), end - (1 << 31) - 2]
    code = [first + 8, head, MODULE, last + 64, end - (1 << 31)]

    def exported(*words_of, known=True, **fields):
        objects = [sample(0, **{"ip": f"{first:#x}", **fields},
                          callchain=[f"{word:#x}" for word in words_of])]
        said = perf.export(perf.samples(objects), *image(perf, kernel) if known else ())
        (found,) = chains(perf)
        gone = len(words_of) + 1 - len(found)
        assert said.splitlines()[1:] == (
            [f"perf.data: without {gone} words of callers where no code is"] if gone else [])
        return found[1:]
    assert exported(*words) == code
    # Before page tables; services of EFI, in the lower half; a kernel that is not known.
    assert exported(*words, satp="0x0") == [word for word in words if word not in (data,)]
    assert exported(*words, ip="0x20000010") == [
        word for word in words if word in code or word < 1 << 63]
    assert exported(*words, known=False) == words
    # Of a process nothing is known: it may have got code anywhere.
    assert exported(*words, mode="user", ip="0x10078") == words


def test_words_of_a_process_that_no_text_holds(perf):
    """Its headers are no code; where libraries are is not known."""
    elf = program(perf.home, "-static", "-no-pie")
    known = symbols.load(str(elf))
    at = {name: start for start, name in known.functions}["second"]
    words = [at + 8, known.text + 8, known.end + 8, 0x3fd0000010, ERRNO]
    objects = [sample(0, ip=f"{at:#x}", mode="user", callchain=[f"{word:#x}" for word in words])]
    said = perf.export(perf.samples(objects), "--user", f"alpha={elf}")
    assert said.splitlines()[1:] == ["perf.data: without 2 words of callers where no code is"]
    (found,) = chains(perf)
    assert found[1:] == [at + 8, known.end + 8, 0x3fd0000010]


def test_annotate(perf, kernel):
    """The code of a function, with its samples."""
    at = kernel.functions[7][0]
    objects = [sample(n, ip=f"{at + where:#x}") for n, where in enumerate((0, 8, 8, 26))]
    perf.export(perf.samples(objects), *image(perf, kernel))
    # perf finds the disassembler of another architecture by itself from 6.2 on.
    lines = perf.run("annotate", "--stdio", "-s", "function_7", "--objdump", OBJDUMP)
    found = [re.fullmatch(r" *([\d.]+) +:\s+([0-9a-f]+):\s+(.*?)\s*", line) for line in lines]
    rows = {int(row[2], 16) - at: (float(row[1]), row[3].split()[0]) for row in found if row}
    assert {where: percent for where, (percent, _) in rows.items() if percent} == {
        0: 25, 8: 50, 26: 25}
    assert (rows[4][1], rows[24][1], rows[62][1]) == ("jal", "jalr", "ret")
    perf.environment["CROSS_COMPILE"] = "riscv64-linux-gnu-"
    assert perf.run("annotate", "--stdio", "-s", "function_7") == lines


def test_a_vmlinux(perf):
    """Code of all its sections, at another place than the file says."""
    path = kernels.vmlinux(perf.home)
    found = {name: start for start, name in symbols.load(str(path)).functions}
    objects = [sample(n, ip=f"{found[name] + MOVED + 8:#x}")
               for n, name in enumerate(("function_3", "start_it"))]
    at = kernels.BASE + kernels.TEXT + MOVED
    perf.export(perf.samples(objects), "--symbols", f"{path}@{at:#x}")
    assert perf.report() == {("alpha", "function_3"): 1, ("alpha", "start_it"): 1}
    for name in ("function_3", "start_it"):
        lines = perf.run("annotate", "--stdio", "-s", name, "--objdump", OBJDUMP)
        assert any(re.fullmatch(r" +100.00 :\s+[0-9a-f]+:\s+nop\s*", line) for line in lines)


def test_kernels_that_relocated_themselves(perf):
    """Of the same file, at two places: a file for each, with the same names."""
    one = kernels.built()
    objects = [dict(o, ip=f"{int(o['ip'], 16) & ~63:#x}")
               for vm, slide in (("alpha", 0), ("beta", MOVED), ("gamma", MOVED))
               for o in some(one, vm=vm, slide=slide)]
    said = perf.export(perf.samples(objects, ["alpha", "beta", "gamma"]), *image(perf, one))
    assert said == "perf.data.alpha: 780 samples of alpha\n" \
        "perf.data.beta: 1560 samples of beta, gamma\n"
    assert perf.report("-i", "perf.data.alpha") == expected()
    assert perf.report("-i", "perf.data.beta") == {**expected("beta"), **expected("gamma")}
    lines = perf.run("annotate", "--stdio", "-s", "function_7", "--objdump", OBJDUMP, "-i",
                     "perf.data.beta")
    assert any("100.00" in line and f"{one.functions[7][0]:x}:" in line for line in lines)


@pytest.mark.parametrize("words", [(), ("--symbols", "beta=Image")])
def test_a_kernel_that_is_not_known(perf, kernel, words):
    """Addresses, where this computer's kernel has functions as well."""
    perf.file("Image", kernel.image)
    with open("/proc/kallsyms", encoding="ascii") as lines:
        own = [int(line.split()[0], 16) for line, _ in zip(lines, range(100))]
    places = {at for at in (0xffffffff81000000, 0xffffffff81e01230, 0x80200000, *own) if at}
    objects = [sample(n, ip=f"{at:#x}") for n, at in enumerate(sorted(places))]
    said = perf.export(perf.samples(objects), *words)
    assert said.endswith("of alpha, whose kernel has no names\n")
    assert perf.report() == {("alpha", f"{at:#018x}"): 1 for at in places}


def test_maps_and_modules(perf, kernel):
    """A copy of /proc/kallsyms has no code, but names of modules; beside them there are none."""
    text = "".join(f"{at:016x} {kind} {name}\n" for at, kind, name in kernel.symbols)
    path = perf.file("kallsyms", (text + "ffffffff01000000 t load\t[mod]\n"
                                     "ffffffff01008000 t other [next]\n").encode())
    code = kernel.functions[-1][0] + 64
    places = {0xffffffff01000010: "load [mod]", 0xffffffff01001000: "(no function)",
              kernel.functions[0][0]: "function_0", kernel.functions[-1][0]: kernels.LONG_NAME,
              code: None, 0xffffffff00000000: None, 0xffffffff01008fff: "other [next]"}
    perf.export(perf.samples([sample(n, ip=f"{at:#x}") for n, at in enumerate(places)]),
                "--symbols", path)
    assert perf.report() == {("alpha", name or f"{at:#018x}"): 1 for at, name in places.items()}


def test_programs(perf, kernel):
    """Names in the address space that they are told for."""
    elf = program(perf.home, "-static", "-no-pie")
    at = {name: start for start, name in symbols.load(str(elf)).functions}["second"]
    objects = [sample(0, ip=f"{at:#x}", mode="user", satp="0x5"),
               sample(1, ip=f"{at:#x}", mode="user", satp="0x6"),
               sample(2, ip=f"{kernel.functions[3][0]:#x}", satp="0x5")]
    perf.export(perf.samples(objects), *image(perf, kernel), "--user", f"alpha:0x5={elf}")
    assert perf.report() == {("alpha program", "second"): 1, ("alpha", f"{at:#018x}"): 1,
                             ("alpha", "function_3"): 1}


def test_a_program_that_may_be_anywhere(perf):
    """It is where it is told to be, and has names there only."""
    elf = program(perf.home, "-static-pie", "-fPIE", "-Wl,--build-id")
    place = 0x3fd0000000
    at = {name: start for start, name in symbols.load(str(elf)).functions}["second"] + place
    objects = [sample(0, ip=f"{at:#x}", mode="user"), sample(1, ip=f"{at - place:#x}", mode="user")]
    perf.export(perf.samples(objects), "--user", f"alpha={elf}@{place:#x}")
    assert perf.report() == {("alpha", "second"): 1, ("alpha", f"{at - place:#018x}"): 1}


def test_losses(perf, kernel):
    """Those between samples, and those behind the last one, are told."""
    objects = [*some(kernel), {"type": "lost", "timestamp": 4 * NS, "vm": "alpha", "vcpu": 0,
                               "event": "cycles", "lost": 7},
               {"type": "end", "vm": "alpha", "vcpu": 0, "event": "cycles", "lost": 9}]
    perf.export(perf.samples(objects), *image(perf, kernel))
    text = subprocess.run(["perf", "report", "--stdio"], cwd=perf.home, env=perf.environment,
                          capture_output=True, text=True, check=True).stdout
    assert "# Total Lost Samples: 9\n" in text


def test_the_cache(perf, kernel):
    """It is where it is told to be, and what others have put there stays."""
    file = perf.samples(some(kernel))
    perf.export(file, *image(perf, kernel), "--buildid-dir", "cache")
    assert not (perf.home / ".debug").exists()
    place = perf.home / "cache/[kernel.kallsyms]" / kernels.BUILD_ID.hex()
    assert [path.name for path in place.iterdir()] == ["elf"]
    lines = perf.run("--buildid-dir", "cache", "report", "--stdio", "--no-children")
    assert any("function_39" in line for line in lines)
    # It writes its own again.
    (place / "elf").write_bytes((place / "elf").read_bytes()[:-1] + b"x")
    perf.export(file, *image(perf, kernel), "--buildid-dir", "cache")
    assert not (place / "elf").read_bytes().endswith(b"x")
    (place / "elf").write_bytes(b"mine")
    done = subprocess.run([TOOL, "export", file, *image(perf, kernel), "--buildid-dir", "cache"],
                          cwd=perf.home, env=perf.environment, capture_output=True, text=True,
                          check=True)
    assert "cache has another file of the kernel of alpha, which stays" in done.stderr
    assert (place / "elf").read_bytes() == b"mine"
    link = perf.home / "cache/.build-id" / kernels.BUILD_ID.hex()[:2] / kernels.BUILD_ID.hex()[2:]
    link.unlink()
    link.symlink_to("elsewhere")
    (place / "elf").unlink()
    perf.export(file, *image(perf, kernel), "--buildid-dir", "cache")
    assert os.readlink(link) == "elsewhere" and not (place / "elf").exists()


GOOD = sample(0, ip="0x80000000")


@pytest.mark.parametrize("objects, why", [
    ([], "there is no sample in it"), ([dict(GOOD, ip="here")], "line 2 is"),
    ([GOOD, dict(GOOD, ip="-0x1")], "line 3 is"), ([dict(GOOD, ip=hex(1 << 64))], "line 2 is"),
    ([dict(GOOD, vm="gamma")], "line 2 is"), ([dict(GOOD, event="faults")], "line 2 is"),
    ([dict(GOOD, mode="other")], "line 2 is"), ([dict(GOOD, hart=-1)], "line 2 is"),
    ([dict(GOOD, hart=1 << 32)], "line 2 is"), ([dict(GOOD, vcpu=256)], "line 2 is"),
    ([dict(GOOD, callchain=[1])], "line 2 is"), (["sample"], "line 2 is"), ([7], "line 2 is"),
    ([{"type": "sample"}], "line 2 is"), ([dict(GOOD, callchain=["0x1"] * 9000)], "a record of")])
def test_wrong_files(perf, objects, why):
    said = perf.export(perf.samples(objects), status=2)
    # Before the last line, a file that could be read may be said to have no names.
    assert why in said.splitlines()[-1] and said.count("\n") <= 2
    assert not (perf.home / "perf.data").exists()


def test_what_is_no_file_of_samples(perf):
    text = perf.samples([GOOD, GOOD]).read_bytes()
    for data in (b"", b"\xff\n", text[:-9], text[:5], b"[" * 100000):
        said = perf.export(perf.file("broken", data), status=2)
        assert "broken: " in said and said.count("\n") == 1
    for head in ({"vms": 1}, {"events": [1]}, {"period": "often"}, {"vms": [["alpha"]]}):
        right = {"tally-samples": 1, "vms": ["alpha"], "events": ["cycles"], "period": "1"}
        path = perf.file("broken", (json.dumps({**right, **head}) + "\n").encode())
        assert "line 1 is no line of a file of samples" in perf.export(path, status=2), head


# What the kernel does with interrupts on: it decompresses and formats its names.
LOAD = "cat /proc/kallsyms >/dev/null"
PERIODS = {"inside": 50021, "beside": 50023}
# How often it is looked at from beside, and for how many ticks. A ring then has room for all.
TIMES, SPAN = 10, 30 * MS
GUEST = f"""
perf record -q -e cycles:k -c {PERIODS['inside']} -o /tmp/data sh -c '{"; ".join([LOAD] * 2)}' 2>&1
perf report -i /tmp/data --stdio -F sample,sym 2>/dev/null >/tmp/report
sed -n 's/.*\\b\\([0-9][0-9]*\\) *\\[k\\] /is \\1 /p' /tmp/report
{replayed.STARTS}
while true; do {LOAD}; done
"""
SIGMAS = 4
SHARE = 0.02  # of those functions that are compared


def one_name_each(path):
    """{name: the one that is told of several at one address}, as perf may have chosen another."""
    found, chosen = symbols.load(path), {}
    with open(path, "rb") as file:
        for address, _, name in kallsyms.Kallsyms(file.read()).symbols:
            if found.find(address) and found.find(address)[1] == address:
                chosen.setdefault(name, found.find(address)[0])
    return chosen


@pytest.mark.long
def test_the_same_as_in_the_guest(perf, tmp_path):
    """Debian's perf in a guest and beside it: the functions of its kernel have the same shares."""
    # Else it checks its ciphers until long after the boot.
    console, file = replayed.record_linux(
        tmp_path, GUEST, ("0x2:k", "instructions:k"), (PERIODS["beside"],), SPAN, TIMES,
        bootargs="cryptomgr.notests")
    kernel = harness.BUILD / "guest/Image"
    perf.export(file, "--symbols", kernel)
    beside = collections.Counter({name: n for (_, name), n in perf.report().items()})
    chosen, inside = one_name_each(kernel), collections.Counter()
    for n, name in re.findall(r"is (\d+) (\S+)", console):
        inside[chosen.get(name, name)] += int(n)
    # perf in the guest samples the programs alone; from beside the shell is there as well.
    common = {name for name in inside if inside[name] >= SHARE * inside.total()}
    # What it calls most; a compiler may have given the copy that it made a longer name.
    assert len(common) >= 5 and "vsnprintf" in common
    assert any(name.startswith("kallsyms_expand_symbol") for name in common)
    n_inside, n_beside = (sum(found[name] for name in common) for found in (inside, beside))
    assert n_inside > 0.7 * inside.total() > 700 and n_beside > 0.5 * beside.total()
    for name in common:
        share = (inside[name] + beside[name]) / (n_inside + n_beside)
        sigma = math.sqrt(share * (1 - share) * (1 / n_inside + 1 / n_beside))
        assert abs(inside[name] / n_inside - beside[name] / n_beside) <= SIGMAS * sigma, name
    lines = perf.run("annotate", "--stdio", "-s", "vsnprintf", "--objdump", OBJDUMP)
    assert any(re.search(r"^ +[1-9][\d.]* +:", line) for line in lines)
