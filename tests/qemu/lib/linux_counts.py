# SPDX-License-Identifier: Apache-2.0
"""Scripts of perf stat and perf record for Debian guests, and the counts that must come of them."""

import harness
import plain

KNOWN = 20000000
EXACT = {"instructions:u": KNOWN, "cycles:u": KNOWN}
STAT = f"""
perf stat -x, -e instructions:u,cycles:u work {KNOWN} 2>&1
perf stat -x, -e instructions:k,cycles:k work 1000 2>&1
"""
# A neighbour begins after 3.95 s, when Linux has booted: one that traps without end makes the
# emulator slow. It is there all the time that counts are taken. perf's first start is a long one.
AFTER = "after=39500000 ticks=1000000000"
WAIT = ("perf stat -e cycles:u work 1000 2>/dev/null >&2\n"
        "while [ $(cut -d. -f1 /proc/uptime) -lt 4 ]; do sleep 0.1; done\n")
# What the kernel executes to start and end a program: about 140,000. Time slices add ticks.
KERNEL = range(100000, 1000000)
BARE_NODE = """
		beta {{
			memory = /bits/ 64 <(16 << 20)>;
			kernel = <&bare>;
			bootargs = "kind={kind}";

			vcpu0 {{
				harts = <0>;
			}};
		}};
	}};
}};
"""
# Of two_functions.S: all its instructions, and the number of the last one of heavy.
ALL, HEAVY = 20000011, 15000004
PERIOD = 9973
PROFILE = f"""
perf record -q -e instructions:u -c {PERIOD} -o /tmp/data /test/two_functions 2>&1
perf script -i /tmp/data -F ip,sym 2>/dev/null | awk '{{ print $2 }}' | sort | uniq -c
"""
LINUX = """
perf stat -x, -e instructions:u work 50000000 2>&1 | sed 's/^/stat: /'
perf stat -x, -e instructions:u,cycles:u,dTLB-load-misses work 10000000 2>&1 | sed 's/^/three: /'
perf record -q -e instructions:u -c 300000 -o /tmp/data work 20000000 2>&1
perf script -i /tmp/data -F comm 2>/dev/null | sort | uniq -c
perf record -q -e instructions:u -c 10000 -o /tmp/data work 20000000 2>&1
perf script -i /tmp/data -F comm 2>/dev/null | sort | uniq -c
perf stat -x, -e instructions:u work 50000000 2>&1 | sed 's/^/after: /'
"""


def check(lines):
    """Judges the two measurements of STAT; returns how many nanoseconds the first one took. When
    it has the hart to itself, an instruction takes one."""
    counts = harness.perf_counts(lines)
    assert {name: counts.pop(name) for name in EXACT} == EXACT
    assert sorted(counts) == ["cycles:k", "instructions:k"]
    assert all(count in KERNEL for count in counts.values()), counts
    return int(next(line for line in lines if ",instructions:u," in line).split(",")[3])


def with_neighbour(folder, script, kind, properties=""):
    """A tree of one Debian guest, alpha, with further properties, and a bare one, beta."""
    bare = plain.make("build/guests/bare.bin")
    tree = harness.linux_tree(folder, {"alpha": script}, properties=properties)
    text = tree.read_text(encoding="utf-8")
    text = text.replace("images {", f'images {{\n\t\tbare: bare {{ data = /incbin/("{bare}"); }};')
    end = text.rindex("\t};\n};")
    tree.write_text(text[:end] + BARE_NODE.format(kind=kind), encoding="utf-8")
    return tree


def symbols(lines):
    """{symbol: samples} of PROFILE."""
    return {line.split()[1]: int(line.split()[0]) for line in lines if len(line.split()) == 2}


def exact(lines):
    """Whether a guest printed what LINUX is to print."""
    counts = {prefix: harness.perf_counts([line.removeprefix(prefix + ": ") for line in lines
                                           if line.startswith(prefix + ": ")])
              for prefix in ("stat", "three", "after")}
    assert counts["stat"] == {"instructions:u": 50000000}, lines
    assert counts["after"] == {"instructions:u": 50000000}, lines
    assert counts["three"]["instructions:u"] == counts["three"]["cycles:u"] == 10000000
    assert counts["three"]["dTLB-load-misses"] > 0
    assert [line.split() for line in lines if ":" not in line] == [
        ["66", "work"], ["2000", "work"]], lines
    return True
