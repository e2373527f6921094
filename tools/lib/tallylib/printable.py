# SPDX-License-Identifier: Apache-2.0
"""Decides which characters of a text that others made are shown. Names of functions, VMs, nodes,
events and files, and lines of answers, may hold anything that a guest or the maker of a file put
there; a terminal, perf, a browser or a program that reads lines obeys some of it.

What is not shown stands there as \\u and the number of its character. So names that differ still
do, and what has been made printable once stays as it is.

  name("f\\33[2J")             f\\u001b[2J
  loads('{"vm": "\\u202ea"}')  {"vm": "\\u202ea"}, in printable characters
"""
import json

LONGEST = 1024  # characters of a name; Linux' own have 512 at most
CUT = "..."


def escape(char):
    """The printable text that stands for a character, as JSON has it. A byte that could not be
    decoded is its own number."""
    if "\udc80" <= char <= "\udcff":
        char = chr(ord(char) - 0xdc00)
    codes = char.encode("utf-16-be", "surrogatepass")
    return "".join("\\u" + codes[at:at + 2].hex() for at in range(0, len(codes), 2))


def shown(text, stays):
    """The text with all characters escaped for which stays(character) is false."""
    return "".join(c if stays(c) else escape(c) for c in text)


def line(text):
    """Text for people: letters of all languages and tabs stay, but no control character, none that
    changes the direction of others, and no end of a line."""
    return text if text.isprintable() else shown(text, lambda c: c.isprintable() or c == "\t")


def lines(text):
    """Several of them."""
    return "\n".join(map(line, text.split("\n")))


def plain(text):
    """A line of Tally's, which has no other characters than these: ASCII and tabs."""
    if text.isascii() and text.isprintable():
        return text
    return shown(text, lambda c: " " <= c <= "~" or c == "\t")


def words(text):
    """A name for people and programs, in one word or several: printable ASCII, as compilers make
    it, no longer than LONGEST."""
    if not (text.isascii() and text.isprintable()):
        text = shown(text, lambda c: " " <= c <= "~")
    return text if len(text) <= LONGEST else text[:LONGEST - len(CUT)] + CUT


def name(text):
    """The same in one word, as programs have them."""
    return words(text.replace(" ", escape(" ")))


def every(found, decide):
    """What json.loads() has made, with each text in it as `decide` gives it."""
    if isinstance(found, str):
        return decide(found)
    if isinstance(found, list):
        return [every(each, decide) for each in found]
    if isinstance(found, dict):
        return {decide(key): every(each, decide) for key, each in found.items()}
    return found


def loads(text, decide=plain):
    """As json.loads(), with printable texts."""
    found = json.loads(text)
    # Most lines hold nothing that could be anything else.
    harmless = text.isascii() and text.rstrip("\n").isprintable() and "\\" not in text
    return found if harmless and len(text) <= LONGEST else every(found, decide)
