# SPDX-License-Identifier: Apache-2.0
"""How a tool reaches a machine: the options that say where it is, and the exit statuses that say
why it could not be asked. tools/tally-ctl, tools/tally-top and tools/tally-console have them in
common."""
import contextlib

from tallylib import line as lines
from tallylib import operator_machine, tally_ctl
from tallylib.serial_machine import SerialMachine

WRONG, UNREACHABLE, TIMEOUT, NO_ANSWER = 2, 4, 5, 6
LONGEST = 1e9
# How long an answer may take, in seconds.
ANSWER_S = 10


class Failed(Exception):
    """An exit status and one line that says why."""

    def __init__(self, status, why):
        super().__init__(str(why))
        self.status = status


def add_arguments(parser, operator=True):
    """Adds --socket and the others. operator: the tool only asks, which such a VM may."""
    parser.add_argument("--serial", metavar="LINE",
                        help="of a board, which nothing else uses: a serial device, a UNIX socket "
                             "(QEMU's -serial unix:PATH,server), or HOST:PORT")
    parser.add_argument("--baud", type=int, metavar="N", help="of a serial device (default: %d)" %
                        lines.BAUD)
    parser.add_argument("--socket", metavar="PATH",
                        help="what `tools/run --control PATH` says (default: the one machine "
                             "that runs from this checkout)")
    if operator:
        parser.add_argument("--operator", action="store_true",
                            help="the machine that this Linux is a guest of, whose VM is an "
                                 "operator (docs/operator.md)")
    else:
        parser.set_defaults(operator=False)
    parser.add_argument("--timeout", type=float, default=ANSWER_S, metavar="SECONDS",
                        help="how long to wait for an answer (default: %d)" % ANSWER_S)


def check_arguments(parser, args):
    """Refuses options that exclude each other."""
    given = [name for name in ("serial", "socket", "operator") if getattr(args, name)]
    if len(given) > 1:
        parser.error("--%s and --%s exclude each other" % tuple(given[:2]))
    if args.baud is not None and not args.serial:
        parser.error("--baud is of --serial")
    args.baud = args.baud or lines.BAUD
    if not lines.speed(args.baud):
        parser.error("--baud %d: is no speed that this computer has" % args.baud)
    if not 0 < args.timeout < LONGEST:
        parser.error("--timeout %g: is not a positive number of seconds below %g" %
                     (args.timeout, LONGEST))


def line(args):
    """The line of the machine, with the frames of one VM or of all (tallylib.line.Line)."""
    if args.serial:
        return lines.serial(args.serial, args.baud)
    return lines.through(args.socket, args.vm)


def reached(args):
    """Returns the machine, to be asked."""
    if args.serial:
        return SerialMachine(args.serial, args.baud, args.timeout)
    if args.operator:
        return operator_machine.OperatorMachine(args.timeout)
    return tally_ctl.Machine(args.socket, args.timeout)


@contextlib.contextmanager
def machine(args):
    """A context of the machine, a tally_ctl.Machine. What goes wrong in it raises Failed."""
    try:
        with reached(args) as found:
            yield found
    except tally_ctl.Unreachable as error:
        raise Failed(UNREACHABLE, error) from error
    except tally_ctl.BadCommand as error:
        raise Failed(WRONG, error) from error
    except tally_ctl.NoAnswer as error:
        raise Failed(NO_ANSWER, error) from error
    except TimeoutError as error:
        raise Failed(TIMEOUT, "no answer within %g s" % args.timeout) from error
