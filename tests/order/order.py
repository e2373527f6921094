#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the handshakes of docs/memory-order.md by RISC-V's memory model, with herd7.

  tests/order/order.py [--litmus FOLDER]    a line for each that is not as it is said there

Of each block: what it says never happens does not, without any one of its fences, acquires and
releases it does, and the code has its lines. tests/order/published.txt, whose outcomes are known,
judges herd7 and this program. --litmus keeps the litmus tests. Exit status: 0; 1 something is not
so; 2 wrong use.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(TOP, "tests", "order")
HERD = os.path.join(TOP, "build", "platform", "herd-forky", "herd7")
IO_MODEL = os.path.join(HERE, "rvwmo-io.cat")

# The fences of devices: what herd7 is given instead (rvwmo-io.cat), and what is left when those
# that order devices are taken away.
IO_FENCES = {"w,o": ("w,w", None), "o,rw": ("w,rw", None), "r,iorw": ("r,r", "r,rw"),
             "iorw,w": ("rw,r", "rw,w"), "io,o": ("r,w", None), "iorw,iorw": ("w,r", "rw,rw")}
STEP = re.compile(r"(?:(?P<to>\w+) = )?(?P<op>load|store|add|or|and|swap|cas|fence|if)"
                  r"(?P<flags>(?:\.aq|\.rl)*)(?: (?P<words>.*))?$")


class Wrong(Exception):
    """A block cannot be read."""


class Step:
    """One step of a hart: an operation on a place, or a fence."""

    def __init__(self, text):
        found = STEP.match(text)
        if not found:
            raise Wrong("no step: " + text)
        self.text, self.to, self.op = text, found["to"], found["op"]
        self.flags = set(re.findall(r"\w+", found["flags"]))
        self.words = (found["words"] or "").split()

    def weaker(self):
        """(what was taken away, the step without it); None: nothing of the step is left."""
        for flag in sorted(self.flags):
            yield "without ." + flag, Step(self.text.replace("." + flag, "", 1))
        if self.op == "fence":
            yield "without it", None
            narrow = IO_FENCES.get(self.words[0], (None, None))[1]
            if narrow:
                yield "without devices", Step("fence " + narrow)


class Test:
    """A litmus test."""

    def __init__(self, name):
        self.name, self.harts, self.start, self.io = name, [], {}, set()
        self.verdict, self.outcomes = None, []
        self.places = []  # (file, function, [text]) in the order of the block

    def without(self, hart, number, step):
        """The test with another step, or none, in place of one."""
        other = Test(self.name)
        other.__dict__.update(self.__dict__)
        other.harts = [list(steps) for steps in self.harts]
        other.harts[hart][number : number + 1] = [step] if step else []
        return other


def parse(lines):
    """The test that a block is."""
    test = Test(lines[0])
    for line in lines[1:]:
        word, _, rest = line.strip().partition(" ")
        if word == "hart":
            test.harts.append([])
        elif word == "io":
            test.io |= set(rest.split())
        elif word == "init":
            test.start.update(pair.split("=") for pair in rest.split())
        elif word in ("never", "may"):
            test.verdict = word
            test.outcomes.append(rest.split())
        elif "/" in word and "=" not in line and "|" not in line:
            test.places.append((word, rest.strip(), []))
        else:
            step, _, code = line.partition("|")
            test.harts[-1].append(Step(step.strip()))
            if code.strip() and not code.strip().startswith("("):
                test.places[-1][2].append(code.strip())
    if not test.harts or not test.outcomes:
        raise Wrong(test.name + ": no harts, or no outcome")
    return test


def blocks(path):
    """The tests of a file: blocks of Markdown, or, in another file, what blank lines part."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".md"):
        found = re.findall(r"^```order\n(.*?)^```$", text, re.M | re.S)
    else:
        found = re.sub(r"(?m)^#.*\n", "", text).strip().split("\n\n")
    return [parse(block.strip("\n").split("\n")) for block in found]


class Hart:
    """Writes one hart's instructions."""

    def __init__(self, number, steps):
        self.number, self.code, self.places, self.values = number, [], {}, {}
        self.free = iter(range(5, 32))
        self.ends = False
        for step in steps:
            getattr(self, "fence" if step.op == "fence" else
                    step.op if step.op in ("load", "store", "cas") else
                    "jump" if step.op == "if" else "amo")(step)
        if self.ends:
            self.code.append("END%d:" % number)

    def register(self):
        """A register that nothing else uses."""
        return "x%d" % next(self.free)

    def at(self, place):
        """The register with the address of a place."""
        if place not in self.places:
            self.places[place] = self.register()
        return self.places[place]

    def constant(self, word):
        """A register with a number; of a value read before if it is said to depend on that."""
        number, _, value = word.partition("+")
        register = self.register()
        if value:
            zero = self.register()
            self.code += ["xor %s,%s,%s" % (zero, self.values[value], self.values[value]),
                          "ori %s,%s,%s" % (register, zero, number)]
        else:
            self.code.append("ori %s,x0,%s" % (register, number))
        return register

    def result(self, name):
        """The register for what a step reads; without a name one that nobody looks at."""
        register = self.register()
        if name:
            self.values[name] = register
        return register

    def address(self, word):
        """The register with the address; PLACE+VALUE: one that depends on a value."""
        place, _, value = word.partition("+")
        register = self.at(place)
        if value:
            zero, register = self.register(), self.register()
            self.code += ["xor %s,%s,%s" % (zero, self.values[value], self.values[value]),
                          "add %s,%s,%s" % (register, self.at(place), zero)]
        return register

    def load(self, step):
        at = self.address(step.words[0])
        self.code.append("lw %s,0(%s)" % (self.result(step.to), at))
        if "aq" in step.flags:
            self.code.append("fence r,rw")

    def store(self, step):
        value = self.constant(step.words[1])
        if "rl" in step.flags:
            self.code.append("fence rw,w")
        self.code.append("sw %s,0(%s)" % (value, self.address(step.words[0])))

    def amo(self, step):
        value = self.constant(step.words[1])
        order = "".join(flag for flag in ("aq", "rl") if flag in step.flags)
        self.code.append("amo%s.w%s %s,%s,(%s)" % (step.op, "." + order if order else "",
                                                  self.result(step.to), value,
                                                  self.at(step.words[0])))

    def cas(self, step):
        place, before, after = step.words
        self.ends = True
        seen, done = self.register(), self.register()
        old, new = self.constant(before), self.constant(after)
        self.code += ["lr.w%s %s,(%s)" % (".aq" if "aq" in step.flags else "", seen,
                                          self.at(place)),
                      "bne %s,%s,END%d" % (seen, old, self.number),
                      "sc.w%s %s,%s,(%s)" % (".rl" if "rl" in step.flags else "", done, new,
                                             self.at(place)),
                      "bne %s,x0,END%d" % (done, self.number),
                      "ori %s,x0,1" % self.result("hart%d" % self.number)]

    def jump(self, step):
        name, value = step.words[0].split("=")
        self.ends = True
        value = self.constant(value)
        self.code.append("bne %s,%s,END%d" % (self.values[name], value, self.number))

    def fence(self, step):
        self.code.append("fence " + IO_FENCES.get(step.words[0], step.words)[0])


def litmus(test, name):
    """The text that herd7 reads."""
    harts = [Hart(number, steps) for number, steps in enumerate(test.harts)]
    for place in sorted(test.io):
        marker = Hart(len(harts), [])
        marker.code.append("lw.aq.rl x5,0(%s)" % (marker.at(place).replace("x5", "x6")))
        marker.places[place] = "x6"
        harts.append(marker)
    values = {value: "%d:%s" % (hart.number, register) for hart in harts
              for value, register in hart.values.items()}
    start = ["%s=%s;" % pair for pair in test.start.items()]
    start += ["%d:%s=%s;" % (hart.number, register, place) for hart in harts
              for place, register in hart.places.items()]
    rows = max(len(hart.code) for hart in harts)
    table = [" | ".join("P%d" % hart.number for hart in harts) + " ;"]
    table += [" | ".join(hart.code[row] if row < len(hart.code) else "" for hart in harts) + " ;"
              for row in range(rows)]
    some = []
    for outcome in test.outcomes:
        facts = [fact.partition("=") for fact in outcome]
        # hartN: its compare and swap succeeded.
        some.append(" /\\ ".join("%s=%s" % (what.strip("[]") if "[" in what else values[what],
                                            value or "1") for what, _, value in facts))
    return "RISCV %s\n{ %s }\n%s\nexists (%s)\n" % (
        name, " ".join(start), "\n".join(table), " \\/ ".join("(%s)" % one for one in some))


def judge(tests, model, folder):
    """For each test whether its outcome happens."""
    names = ["T%d" % number for number in range(len(tests))]
    paths = []
    for test, name in zip(tests, names):
        paths.append(os.path.join(folder, name + ".litmus"))
        with open(paths[-1], "w", encoding="ascii") as file:
            file.write(litmus(test, name))
    if not paths:
        return []
    done = subprocess.run([HERD, "-model", model, *paths], capture_output=True, text=True,
                          check=False)
    found = dict(re.findall(r"^Observation (\w+) (\w+) ", done.stdout, re.M))
    if done.returncode or done.stderr or set(found) != set(names):
        raise Wrong("herd7: " + (done.stderr.strip() or "no answer"))
    return [found[name] != "Never" for name in names]


def uses_devices(test):
    """Does it name places or fences of devices?"""
    return test.io or any(step.op == "fence" and step.words[0] in IO_FENCES
                          for steps in test.harts for step in steps)


def body(path, function):
    """The text of a function, without its layout; None: there is none."""
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        # It may return an enum that has no name.
        found = re.search(r"^\w(?:[^;{}]|\{[^;{}]*\} )*\b%s\b[^;{}]*\)\n\{\n(.*?)^\}" %
                          re.escape(function), file.read(), re.M | re.S)
    return re.sub(r"\s+", " ", found.group(1)) if found else None


def not_in_code(test):
    """What the functions named in a block do not have, in that order."""
    for path, function, texts in test.places:
        text = body(path, function) if os.path.exists(os.path.join(TOP, path)) else None
        if text is None:
            yield "%s: no function %s()" % (path, function)
            continue
        at = 0
        for line in texts:
            found = text.find(line, at)
            if found < 0:
                yield "%s: %s() has not, or not there: %s" % (path, function, line)
            at = max(at, found)


class Report:
    """Counts, and prints what is not as it should be."""

    def __init__(self):
        self.good = self.bad = 0

    def note(self, good, text):
        """One thing that was looked at."""
        self.good, self.bad = self.good + good, self.bad + (not good)
        if not good:
            print(text)


def check_published(report, folder):
    """Those of published.txt: with RISC-V's model, and with ours."""
    tests = blocks(os.path.join(HERE, "published.txt"))
    plain = [test for test in tests if not test.io]
    others = [test for test in tests if test.io or not any(
        step.op == "fence" and step.words[0] in [fence for fence, _ in IO_FENCES.values()]
        for steps in test.harts for step in steps)]
    for model, group in (("riscv.cat", plain), (IO_MODEL, others)):
        for test, happens in zip(group, judge(group, model, folder)):
            report.note(happens == (test.verdict == "may"), "published: %s: %s says otherwise" % (
                test.name, os.path.basename(model)))


def weakened(test):
    """(what is taken away, the test without it) for each order in a test."""
    for hart, steps in enumerate(test.harts):
        for number, step in enumerate(steps):
            for what, other in step.weaker():
                yield "%s %s" % (step.text, what), test.without(hart, number, other)


def check_handshakes(report, folder, tests):
    """Each as it is, and with less."""
    for model, group in (("riscv.cat", [test for test in tests if not uses_devices(test)]),
                         (IO_MODEL, [test for test in tests if uses_devices(test)])):
        for test, happens in zip(group, judge(group, model, folder)):
            report.note(not happens, "%s: what never happens may happen" % test.name)
        less = [(test, what, other) for test in group for what, other in weakened(test)]
        for (test, what, _), happens in zip(less, judge([row[2] for row in less], model, folder)):
            report.note(happens, "%s: %s, and it never happens: it is not needed" % (
                test.name, what))


def check(folder):
    """The exit status, after the lines of what is wrong."""
    report = Report()
    tests = blocks(os.path.join(TOP, "docs", "memory-order.md"))
    for test in tests:
        wrong = list(not_in_code(test))
        report.note(not wrong, "\n".join("%s: %s" % (test.name, line) for line in wrong))
    fetched = subprocess.run([os.path.join(TOP, "tools/fetch/peer-platform"), "herd", "forky"],
                             check=False, capture_output=True, text=True)
    if fetched.returncode:
        print("left out, only the code was looked at:", fetched.stderr.strip().split("\n")[-1])
    else:
        check_published(report, folder)
        check_handshakes(report, folder, tests)
    print("[  PASSED  ] %d test(s)." % report.good)
    if report.bad:
        print("[  FAILED  ] %d test(s)." % report.bad)
    return 1 if report.bad else 0


def main():
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--litmus", metavar="FOLDER")
    args = parser.parse_args()
    try:
        if args.litmus:
            os.makedirs(args.litmus, exist_ok=True)
            return check(args.litmus)
        with tempfile.TemporaryDirectory() as folder:
            return check(folder)
    except (Wrong, OSError) as error:
        print("order:", error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
