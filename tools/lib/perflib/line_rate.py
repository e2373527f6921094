# SPDX-License-Identifier: Apache-2.0
"""How many samples a serial line carries (docs/profiling-options.md, "On a serial line")."""

# Of the line, with what is around it: a start bit, eight bits, a stop bit.
BITS = 10
# In the mean, packed and in base64; a sample, and each of its callers, of which few chains have
# more than so many.
SAMPLE, CALLER, CALLERS = 20, 5, 16


def most_hz(baud, harts, events, depth):
    """The highest rate that the line carries if so many harts run nothing but vcpus that are
    sampled, each by so many events; 0: none."""
    characters = SAMPLE + CALLER * min(depth, CALLERS)
    return baud // BITS // characters // (harts * events)


def harts_of(lines, vms):
    """How many harts these VMs can have at the same time, by what `vms` tells."""
    mine = [line for line in lines if line["vm"] in vms]
    return min(sum(line["vcpus"] for line in mine),
               len({hart for line in mine for hart in line["harts"]}))
