# SPDX-License-Identifier: Apache-2.0
"""What follows from the figures. Everything gives None, or leaves out, what was not measured."""

from benchlib import guests

# What a person reads instead of a run's name.
NAMES = {
    "bare": "bare metal", "opensbi": "bare metal", "ssccfg": "Tally, ssccfg", "sbi": "Tally, sbi",
    "kvm-6.12": "KVM, Linux 6.12", "kvm-new": "KVM, newest Linux",
    "ssccfg-trap": "ssccfg, reads trapped", "sbi-trap": "sbi, reads trapped",
    "ssccfg-snapshot": "ssccfg, snapshot", "sbi-snapshot": "sbi, snapshot", "pmu-off": "PMU off",
}
# What is the hypervisor's, or M-mode's.
HYPERVISORS = ["h", "ssaia", "smaia", "ssccfg", "smcdeleg", "smcntrpmf", "smcsrind", "sscsrind"]
THREE_WAY = ("bare", "ssccfg", "sbi", "kvm-6.12", "kvm-new")


def figure(data, run, row):
    """A figure, or None."""
    return data["runs"].get(run, {}).get("figures", {}).get(row)


def spread(data, run, row):
    """How far the parts of a timed row lie apart, in instructions; 0 if that is not known."""
    return data["runs"].get(run, {}).get("spread", {}).get(row, 0)


def present(data, family, columns):
    """Those of a family's columns that were measured."""
    return [c for c in columns if data["runs"].get(f"{family}/{c}", {}).get("figures")]


def percent_more(data, run, row, base_run, base_row):
    """How much dearer one figure is than another, in percent."""
    one, other = figure(data, run, row), figure(data, base_run, base_row)
    return None if one is None or not other else 100 * (one - other) / other


def overhead(data, run, workload, condition):
    """What a condition costs a workload, in percent of the same machine without it."""
    return percent_more(data, run, f"{workload}/{condition}", run, f"{workload}/alone")


def extensions(data):
    """{column: what its guest saw of the hart's extensions}; bare metal first."""
    return {c: data["runs"][f"linux/{c}"]["isa"] for c in THREE_WAY
            if data["runs"].get(f"linux/{c}", {}).get("isa")}


def differing(data):
    """{column: (what it saw that bare metal has not, what it did not see that bare metal has)} of
    the extensions that could make a guest's work another."""
    seen = extensions(data)
    bare = seen.get("bare")
    if bare is None:
        return {}
    found = {c: ([e for e in isa if e not in bare], [e for e in bare if e not in isa + HYPERVISORS])
             for c, isa in seen.items()}
    return {c: pair for c, pair in found.items() if any(pair)}


def recording(data):
    """[(column, workload, rate, overhead there, overhead on bare metal, in percent, samples in
    both, certain)] of the recorded runs. certain: the overhead is greater than three times the
    parts' spread."""
    found = []
    for column in present(data, "linux", THREE_WAY[1:]):
        for workload in guests.WORKLOADS:
            for rate in guests.RATES:
                condition = f"record-{rate}"
                here = overhead(data, f"linux/{column}", workload, condition)
                bare = overhead(data, "linux/bare", workload, condition)
                if here is None or bare is None:
                    continue
                row = f"{workload}/{condition}"
                noise = max(spread(data, f"linux/{c}", r) / figure(data, f"linux/{c}", r) * 100
                            for c in (column, "bare") for r in (row, f"{workload}/alone"))
                found.append((column, workload, rate, here, bare, min(here, bare) > 3 * noise))
    return found


def beside_bare(here, bare):
    """Two ways to set an overhead in a guest beside bare metal's, in percent: how far (work with
    perf / work without) is from the same ratio on bare metal, and what part of bare metal's
    overhead it is."""
    return 100 * ((100 + here) / (100 + bare) - 1), here / bare if bare else None


def samples(data, run, condition):
    """How many samples perf took in all workloads together, or None."""
    seen = data["runs"].get(run, {}).get("perf", {}).get(condition, {})
    return seen.get("samples")


def per_guest(data, backend, row):
    """{guests: instructions of a part for each} of a row."""
    found = {n: figure(data, f"scale/{backend}-{n}", row) for n in (1, 2, 4, 8)}
    return {n: value for n, value in found.items() if value is not None}


def who_does_not_count(data):
    """The greatest difference, in percent, between a guest that has a PMU and does not use it and
    one that has none; and the greatest spread of the parts."""
    differences, noise = [], []
    for workload in guests.WORKLOADS:
        row = f"{workload}/alone"
        more = percent_more(data, "linux/ssccfg", row, "linux/pmu-off", row)
        if more is not None:
            differences.append((more, workload))
            noise.append(100 * spread(data, "linux/ssccfg", row) /
                         figure(data, "linux/ssccfg", row))
    return (max(differences, key=lambda pair: abs(pair[0])), max(noise)) if differences else None
