# SPDX-License-Identifier: Apache-2.0
"""tools/perf-vms record: where VMs spend their time.

  tools/perf-vms record -c 100000 -e instructions:u --vm alpha --duration 2
  tools/perf-vms record -F 1000 -- make -C ~/work
  tools/perf-vms record -e hs-instructions --duration 2

Samples VMs from beside them: where they are each time when so many events have happened. No guest
helps or notices, and what guests count themselves stays what it is. Where a guest wants the counter
for something else it wins, and the report says for how long nothing was sampled.

-e hs-instructions samples nothing: it tells to which exits all instructions went that Tally
executed for each vcpu.

The file is read by tools/perf-vms folded, export and others; `--help` of each says how functions
get names. tools/tally-top --functions shows the same live (docs/profiling.md).
"""
import argparse
import json
import sys
import time

from perflib import exits_record, line_rate, record, samples
from tallylib import beside, image_files, reach, tally_ctl

NS = record.NS
MOST_HZ = 100000
DEFAULT_HZ = 1000
MOST_CALLERS = 64


def arguments(argv):
    parser = argparse.ArgumentParser(
        prog="tools/perf-vms record", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-e", "--event", action="append", metavar="EVENTS",
                        help="as of perf-vms (default: cycles)")
    parser.add_argument("-c", "--count", type=int, metavar="PERIOD",
                        help="a sample each time when so many events have happened")
    parser.add_argument("-F", "--freq", type=int, metavar="HZ",
                        help="so many samples in a second of a vcpu's time on its hart "
                             "(default: %d; on a serial line what that carries)" % DEFAULT_HZ)
    parser.add_argument("-g", action="store_true",
                        help="also who has called, by frame pointers")
    parser.add_argument("--max-stack", type=int, metavar="N", default=MOST_CALLERS,
                        help="of -g: how many callers at most (default: %(default)s)")
    parser.add_argument("--vm", action="append", metavar="NAME",
                        help="of this VM (default: of all)")
    parser.add_argument("-o", "--output", metavar="FILE", default="tally.samples",
                        help="where the samples go (default: %(default)s)")
    parser.add_argument("--duration", type=float, metavar="S",
                        help="for so many seconds of this computer's clock")
    parser.add_argument("--json", action="store_true",
                        help="of hs-instructions: an object a line, and no table")
    reach.add_arguments(parser)
    beside.add_argument(parser, "samples")
    args = beside.parsed(parser, argv)
    if args.command and args.duration is not None:
        parser.error("--duration and a command exclude each other")
    if args.count is not None and args.freq is not None:
        parser.error("-c and -F exclude each other")
    if args.count is not None and not 0 < args.count < 1 << 62:
        parser.error("-c %d: is no number of events" % args.count)
    if args.freq is not None and not 0 < args.freq <= MOST_HZ:
        parser.error("-F %d: is not from 1 to %d" % (args.freq, MOST_HZ))
    if not 0 < args.max_stack <= MOST_CALLERS:
        parser.error("--max-stack %d: is not from 1 to %d" % (args.max_stack, MOST_CALLERS))
    if args.duration is not None and not 0 < args.duration < 1e9:
        parser.error("--duration %g: is not a positive number below 1e9" % args.duration)
    reach.check_arguments(parser, args)
    return args


def report(recorded, out):
    """What became of each vcpu, in words."""
    for vcpu in recorded.vcpus.values():
        notes = ["%d of them late" % vcpu.late] if vcpu.late else []
        missing = vcpu.taken - vcpu.written
        if missing:
            notes.append("%d did not arrive" % missing)
        if vcpu.cut:
            notes.append("chains of %d end at a word that is no code" % vcpu.cut)
        print("[ perf-vms record: %s/%d: %d samples of %d %s, %d lost%s ]" % (
            vcpu.vm, vcpu.vcpu, vcpu.taken, vcpu.count, vcpu.event.name, vcpu.lost,
            "".join(", " + note for note in notes)), file=out)


def report_gaps(recording, out):
    span = recording.last_ns - recording.first_ns if recording.first_ns is not None else 0
    for recorded in recording.recorded:
        for vcpu in recorded.vcpus.values():
            if vcpu.reasons:
                print("[ perf-vms record: %s/%d: no %s were sampled for %.6f s of %.6f s: %s ]" % (
                    vcpu.vm, vcpu.vcpu, vcpu.event.name, max(0, span - vcpu.ns) / NS, span / NS,
                    "; ".join(vcpu.reasons)), file=out)


def check_events(args, events):
    """Whether exits are meant. Raises exits_record.Refused for what is not possible together."""
    exits = any(event.name == exits_record.EVENT for event in events)
    if not exits and args.json:
        raise exits_record.Refused("--json is for -e hs-instructions; samples are in the file")
    if exits and len(events) > 1:
        raise exits_record.Refused("hs-instructions is recorded alone")
    if exits and (args.count or args.freq or args.g):
        raise exits_record.Refused("hs-instructions is not sampled: without -c, -F and -g")
    return exits


def take_exits(machine, args, vms, launch, leave, stop):
    """The same as take(), to which exits Tally's instructions went."""
    child, status = None, 0
    recording = exits_record.Recording(machine, vms)
    with open(args.output, "w", encoding="utf-8") as out:
        try:
            recording.begin(stop)
            child = launch(args.command)
            until = None if args.duration is None else time.monotonic() + args.duration
            exits_record.run(recording, until, child, stop)
        finally:
            status = leave(child, stop) if child else 0
            recording.end()
        writer = samples.Writer(out)
        writer.put(**{"tally-samples": samples.VERSION}, vms=vms, events=[exits_record.EVENT],
                   period="1")
        for line in exits_record.objects(recording):
            writer.put(**line)
    for line in (map(json.dumps, exits_record.objects(recording)) if args.json
                 else exits_record.table(recording)):
        print(line)
    for vcpu in recording.vcpus.values():
        if vcpu.reasons:
            print("[ perf-vms record: %s/%d: nothing was recorded for %.6f s: %s ]" % (
                vcpu.vm, vcpu.vcpu, recording.unrecorded_ns(vcpu) / NS,
                "; ".join(vcpu.reasons)), file=sys.stderr)
    return status


def period_of(args, machine, vms, events):
    """As the hypervisor takes it. A rate that a serial line cannot carry is refused, and nobody
    has asked for the one that there is by default: it is lowered."""
    if args.count:
        return "%d" % args.count
    rate = args.freq or DEFAULT_HZ
    if args.serial:
        harts = line_rate.harts_of(tally_ctl.vms(machine), vms)
        most = line_rate.most_hz(args.baud, harts, events, args.max_stack if args.g else 0)
        if most < (args.freq or 1):
            raise exits_record.Refused(
                "-F %d: a line of %d baud carries %d at most, of %d events on %d harts%s" % (
                    rate, args.baud, most, events, harts, " with callers" if args.g else ""))
        rate = min(rate, most)
        if rate < DEFAULT_HZ and not args.freq:
            print("[ perf-vms record: -F %d, which a line of %d baud carries ]" % (
                rate, args.baud), file=sys.stderr)
    return "%dhz" % rate


def booted_from(machine, vms):
    """What the first line of a file says of it, for the names of the VMs' functions."""
    images = image_files.of(machine)
    known = {vm: images[vm] for vm in vms if vm in images}
    return {"images": known} if known else {}


def take(machine, args, events, vms, launch, leave, stop):
    """Records, with the caller's ways to start a command and to wait for it. Returns its status."""
    events = list({event.name: event for event in events}.values())
    period = period_of(args, machine, vms, len(events))
    depth = args.max_stack if args.g else 0
    recorded = [record.Recorded(vm, event, period, depth) for vm in vms for event in events]
    child, status = None, 0
    with open(args.output, "w", encoding="utf-8") as out:
        recording = record.Recording(machine, recorded, out)
        recording.writer.put(**{"tally-samples": samples.VERSION}, vms=vms,
                             events=[event.name for event in events], period=period,
                             **booted_from(machine, vms))
        try:
            recording.begin(stop)
            if recording.why_none():
                raise exits_record.Refused(recording.why_none())
            child = launch(args.command)
            until = None if args.duration is None else time.monotonic() + args.duration
            record.run(recording, until, child, stop)
            status = leave(child, stop) if child else 0
            child = None
            recording.end()
        except (tally_ctl.NoAnswer, TimeoutError):
            raise
        except BaseException:
            recording.give_up()
            raise
        finally:
            if child:
                leave(child, stop)
    for each in recorded:
        report(each, sys.stderr)
    report_gaps(recording, sys.stderr)
    return status
