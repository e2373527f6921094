# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms export: the samples of a file as perf.data, which `perf report`, `perf script` and
`perf annotate` read: one file for each distinct guest kernel.

Each VM is a process there, and its vcpus are its threads. The functions of the kernels are put into
perf's cache of files by build-id, where perf finds them by itself.
"""
import argparse
import collections
import hashlib
import os
import sys

from perflib import callers, kernel_files, naming, perf_data, samples, symbols
from tallylib import printable, whole_file

APART = 1000  # from a process's number to the next one's; its vcpus have those between
UNKNOWN = (1 << 31) - (1 << 12)  # where a kernel is that is not known: in 2 GiB, as Linux' own
MODES = {"kernel": perf_data.KERNEL, "user": perf_data.USER}


class Process:
    """A VM, or an address space of it whose programs are known."""

    def __init__(self, number, vm, satp=None):
        self.pid, self.vm, self.satp = APART * number, vm, satp
        self.vcpus = set()

    def who(self, vcpu):
        self.vcpus.add(vcpu)
        return self.pid, self.pid + vcpu


class Processes:
    def __init__(self, named):
        self.named = named
        self.found = {}

    def process(self, vm, satp=None):
        key = (vm, satp)
        if key not in self.found:
            self.found[key] = Process(len(self.found) + 1, vm, satp)
        return self.found[key]

    def of(self, sample):
        satp = naming.value(sample["satp"])
        own = sample["mode"] == "user" and (sample["vm"], satp) in self.named.users
        return self.process(sample["vm"], satp if own else None)


def kernel_of(known, vm):
    """(where it begins, its length, where _text is, build-id). One that is not known is none of
    this computer's."""
    if known:
        start = min(known.text, known.spans[0][0])
        return start, known.end - start, known.text, kernel_files.build_id(known)
    start = symbols.LINKED_AT
    unknown = hashlib.sha1(f"perf-vms: the kernel of VM {vm} is not known".encode()).hexdigest()
    return start, UNKNOWN, start, unknown


def groups(named, vms):
    """[[VM]] by their kernels."""
    found = collections.OrderedDict()
    for vm in vms:
        found.setdefault(kernel_of(named.kernel(vm), vm), []).append(vm)
    return list(found.values())


def put_processes(writer, processes, named):
    for process in processes.found.values():
        programs = named.programs(process.vm, process.satp)
        title = process.vm
        if process.satp is not None:
            title += " " + printable.words(os.path.basename(programs[0].path))
        for vcpu in sorted(process.vcpus | {0}):
            writer.comm(process.pid, process.pid + vcpu, title)
        for program in programs:
            path = os.path.abspath(program.path)
            for start, offset, size in program.mapped:
                writer.mapping((process.pid, process.pid), start, size, offset, path,
                               perf_data.USER)
            if program.build_id:
                writer.build_id(perf_data.USER, process.pid, program.build_id, path)


def put_losses(writer, processes, objects):
    """Each that the file tells, and what was lost behind the last sample."""
    told = collections.Counter()
    for o in objects:
        if o["type"] not in ("lost", "end"):
            continue
        key = (o["vm"], o["vcpu"], o["event"])
        n = o["lost"] if o["type"] == "lost" else max(0, o.get("lost", 0) - told[key])
        told[key] += n
        if n:
            time = o.get("timestamp", max(time for time, _ in writer.records))
            writer.lost(processes.process(o["vm"]).who(o["vcpu"]), time, o["event"], n)


def convert(objects, vms, named):
    """A file with these VMs, which have one kernel: its bytes, how many samples it has, and how
    many words of their callers it has not."""
    head = objects[0]
    mine = [o for o in objects[1:] if o["vm"] in vms]
    taken = [o for o in mine if o["type"] == "sample"]
    chains = any("callchain" in sample for sample in taken)
    writer = perf_data.Writer([perf_data.Event(i, name, head["period"], chains)
                               for i, name in enumerate(head["events"])], chains)
    processes = Processes(named)
    left_out = 0
    start, length, text, build_id = kernel_of(named.kernel(vms[0]), vms[0])
    writer.mapping((perf_data.NO_PID, 0), start, length, text, kernel_files.NAME + "_text",
                   perf_data.KERNEL)
    writer.build_id(perf_data.KERNEL, perf_data.NO_PID, build_id, kernel_files.NAME)
    for vm in vms:
        processes.process(vm)
    for sample in taken:
        mode = MODES[sample["mode"]]
        who = processes.of(sample).who(sample["vcpu"])
        found, gone = callers.of(named, sample)
        left_out += gone
        writer.sample(who, sample, mode, int(sample["ip"], 16), found)
    put_losses(writer, processes, mine)
    put_processes(writer, processes, named)
    writer.describe(1 + max((sample["hart"] for sample in taken), default=0))
    return writer.bytes(), len(taken), left_out


def arguments(argv):
    parser = argparse.ArgumentParser(prog="tools/perf-vms export", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE", help="of tools/perf-vms record")
    parser.add_argument("-o", "--output", metavar="FILE", default="perf.data",
                        help="default: %(default)s; if the VMs have several kernels, each one's "
                             "has the name of its first VM behind a dot")
    parser.add_argument("--buildid-dir", metavar="FOLDER",
                        default=os.path.join(os.path.expanduser("~"), ".debug"),
                        help="perf's cache (default: ~/.debug, as perf has it)")
    naming.add_options(parser)
    return parser.parse_args(argv)


def main(argv):
    args = arguments(argv)
    objects = samples.load(args.file)
    named = naming.Naming(args, objects)
    for complaint in named.complaints:
        print("tools/perf-vms export: " + complaint, file=sys.stderr)
    sampled = {o["vm"] for o in objects[1:] if o["type"] == "sample"}
    if not sampled:
        raise samples.BadSamples(f"{args.file}: there is no sample in it")
    parts = groups(named, [vm for vm in objects[0]["vms"] if vm in sampled])
    for vms in parts:
        path = args.output
        if len(parts) > 1:
            path += "." + vms[0].replace("/", "_")
        data, n, left_out = convert(objects, vms, named)
        whole_file.write(path, data)
        known = named.kernel(vms[0])
        if known and not kernel_files.fill(args.buildid_dir, known):
            print(f"tools/perf-vms export: {args.buildid_dir} has another file of the kernel of "
                  f"{', '.join(vms)}, which stays", file=sys.stderr)
        print("%s: %d samples of %s%s" % (path, n, ", ".join(vms), "" if known else
                                          ", whose kernel has no names"))
        if left_out:
            print(f"{path}: without {left_out} words of callers where no code is")
    return 0
