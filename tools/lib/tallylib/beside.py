# SPDX-License-Identifier: Apache-2.0
"""A command of this computer, while which a tool measures. It stands behind "--" and nowhere else:
a word that a tool does not know is a mistake, and nothing to be executed."""


def add_argument(parser, what):
    """what: is done while it runs."""
    parser.add_argument("command", nargs="*", metavar="-- COMMAND",
                        help=what + " while it runs; behind -- only")


def parsed(parser, argv, subcommands=()):
    """The arguments, of which `command` is the list of words behind "--". Ends the program with
    status 2 and one sentence for another word. subcommands: those that there are."""
    at = argv.index("--") if "--" in argv else len(argv)
    args, rest = parser.parse_known_args(argv[:at])
    options = [word for word in rest if word.startswith("-")]
    if options:
        parser.error("unrecognized arguments: " + " ".join(options))
    words = args.command + rest
    if words:
        what = "subcommand; there are " + ", ".join(subcommands) if subcommands else "option"
        parser.exit(2, '%s: "%s" is no %s; a command of this computer stands behind --\n' % (
            parser.prog, words[0], what))
    args.command = argv[at + 1:]
    return args
