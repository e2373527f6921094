# SPDX-License-Identifier: Apache-2.0
"""The rooms of the hypervisor, from bottom to top. A room includes and calls those before it, and
its own files. What it has to call above is declared in its port.h, and defined above. core/debug
and arch/riscv/debug are no rooms: builds of make DEBUG=1 alone have them, and others call them by
headers whose functions are empty elsewhere."""

ROOMS = ("core/lib", "vpmu", "core/console", "core/devices",
         "arch/riscv/hart", "arch/riscv/counters", "arch/riscv/devices",
         "core", "core/host", "core/tree", "core/hart", "core/vcpu", "core/watch", "core/pmu",
         "core/sched", "core/io", "core/life", "core/dispatch", "core/vsbi", "core/operator",
         "core/boot")

# A file may include the ports of rooms below, as everything else there. These are the ports.
PORTS = {"vpmu/port.h": "vpmu", "arch/riscv/hart/port.h": "arch/riscv/hart",
         "arch/riscv/hart/entry.h": "arch/riscv/hart",
         "core/console/port.h": "core/console", "core/vcpu/terminal_port.h": "core/vcpu",
         "core/watch/port.h": "core/watch", "core/pmu/port.h": "core/pmu",
         "core/sched/port.h": "core/sched", "core/io/port.h": "core/io",
         # Whoever cannot go on: the machine stops.
         "core/panic.h": "core/lib"}


def room(path):
    """The room of a file, or None."""
    folder = path.rpartition("/")[0]
    return folder if folder in ROOMS else None


def above(path, other):
    """Is the second file in a room above the first one's?"""
    return ROOMS.index(room(other)) > ROOMS.index(room(path))


def circles(graph):
    """Groups of two and more nodes that reach each other, the largest first. graph: {node: set}"""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda group: (-len(group), group))
