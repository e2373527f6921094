# SPDX-License-Identifier: Apache-2.0
"""tests/peers.toml: what KVM, OpenSBI, QEMU and perf do in Tally's tests, by their versions.

An entry is one test on one peer: {case: verdict}, where cases that have the test's usual verdict
are only counted. Tests compare with it; `make peers` (tools/pages/peers) writes it."""
import json
import os
import re
import tomllib

from tallylib.places import BUILD, TOP

FILE = os.path.join(TOP, "tests", "peers.toml")
# What a test saw lies here until the next `make test` or `make peers`.
SEEN = os.path.join(BUILD, "test", "peers")
# A verdict of most cases, by test. Other tests have none: all their cases are listed.
USUAL = {"self test": "PASS", "perf test": "Ok", "network device": "PASS", "MSI-X": "PASS"}
# A property of a peer beside its cases. Old entries may lack some.
SAYS = "says "
HOW = "make peers"

HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Peers of Tally, by version: verdicts of each case of a test. `make peers` writes this file.
#
# A version that stands here is asserted exactly. One that does not is run as well: the cases in
# which it differs from the nearest version are named in one line, and no test fails.
# `usual` is the number of cases with the test's usual verdict, which are not listed
# ({usual}).
# Entries of versions that no mirror serves any more stay as they are.
"""


def load(path=FILE):
    """{(test, version): {"usual": n, "verdicts": {case: verdict}}}"""
    with open(path, "rb") as file:
        peers = tomllib.load(file).get("peer", [])
    return {(peer["test"], peer["version"]): {
        "usual": peer["usual"],
        "verdicts": {case: verdict for verdict, cases in peer["verdicts"].items()
                     for case in cases}} for peer in peers}


def entry_of(test, seen):
    """{case: verdict} as an entry."""
    usual = USUAL.get(test)
    return {"usual": sum(verdict == usual for verdict in seen.values()),
            "verdicts": {case: verdict for case, verdict in seen.items() if verdict != usual}}


def parts(version):
    """{program: its number} of "Linux 6.12.117, QEMU 10.0.2"."""
    return {name: tuple(int(n) for n in re.findall(r"\d+", number))
            for name, _, number in (part.rpartition(" ") for part in version.split(", "))}


def components(record):
    """The programs that the record knows, each with its version."""
    return {part for _, version in record for part in version.split(", ")}


def distance(one, two):
    """Fewer differing programs are nearer; then lower numbers of the first that differs."""
    names = list(dict.fromkeys([*one, *two]))
    differing = [name for name in names if one.get(name) != two.get(name)]
    apart = []
    for name in differing:
        a, b = one.get(name, ()), two.get(name, ())
        length = max(len(a), len(b))
        apart += [abs(x - y) for x, y in zip(a + (0,) * (length - len(a)),
                                             b + (0,) * (length - len(b)))]
    return (set(one) != set(two), len(differing), apart)


def nearest(record, test, version):
    """The known version of a test that is most like one; None if there is none."""
    known = [other for name, other in record if name == test]
    return min(known, default=None,
               key=lambda other: (distance(parts(version), parts(other)), other))


def differences(entry, seen, test):
    """["CASE: WAS, now IS"] between an entry and what was seen."""
    usual, was = USUAL.get(test), entry["verdicts"]
    now = entry_of(test, seen)
    found, expected = [], entry["usual"]
    for case in dict.fromkeys([*was, *now["verdicts"]]):
        before, after = was.get(case, usual), seen.get(case)
        if before == after or (case.startswith(SAYS) and case not in was):
            continue
        expected += (after == usual) - (before == usual)
        found.append(f"{case}: {before or 'not there'}, now {after or 'not there'}")
    if usual and now["usual"] != expected:
        found.append(f"cases with {usual} that are not listed: {expected}, now {now['usual']}")
    return found


def judge(record, test, version, seen):
    """(failure, note): one line each, or None. failure: the record knows the version, and something
    else was seen. note: it does not know it."""
    known = record.get((test, version))
    if known:
        found = differences(known, seen, test)
        return (f"{test} on {version}: {len(found)} cases are not as in tests/peers.toml ({HOW}): "
                + "; ".join(found) if found else None), None
    other = nearest(record, test, version)
    said = f"{test} on {version}, which tests/peers.toml does not know ({HOW}): "
    if not other:
        return None, said + "nothing to compare it with"
    found = differences(record[test, other], seen, test)
    return None, said + (f"{len(found)} cases differ from {other}: " + "; ".join(found) if found
                         else f"as {other}")


def keep(test, version, seen):
    """Leaves what was seen for `make peers`."""
    os.makedirs(SEEN, exist_ok=True)
    name = re.sub(r"[^\w.]+", "-", f"{test} {version}") + ".json"
    with open(os.path.join(SEEN, name), "w", encoding="utf-8") as file:
        json.dump({"test": test, "version": version, "seen": seen}, file)


def kept():
    """[(test, version, seen)] of all that tests left."""
    found = []
    for name in sorted(os.listdir(SEEN)) if os.path.isdir(SEEN) else []:
        with open(os.path.join(SEEN, name), encoding="utf-8") as file:
            one = json.load(file)
        found.append((one["test"], one["version"], one["seen"]))
    return found


def string(text):
    """A basic string of TOML."""
    return json.dumps(text, ensure_ascii=False)


def text_of(record):
    """The file's text."""
    usual = ", ".join(f"{test}: {verdict}" for test, verdict in USUAL.items())
    text = [HEAD.format(usual=usual)]
    for (test, version), entry in sorted(
            record.items(), key=lambda item: (item[0][0], sorted(parts(item[0][1]).items()))):
        text.append(f"\n[[peer]]\ntest = {string(test)}\nversion = {string(version)}\n"
                    f"usual = {entry['usual']}\n\n[peer.verdicts]\n")
        verdicts = {}
        for case, verdict in entry["verdicts"].items():
            verdicts.setdefault(verdict, []).append(case)
        for verdict, cases in verdicts.items():
            lines = "".join(f"\t{string(case)},\n" for case in cases)
            text.append(f"{string(verdict)} = [\n{lines}]\n" if len(cases) > 1
                        else f"{string(verdict)} = [{string(cases[0])}]\n")
    return "".join(text)


def save(record, path=FILE):
    """Writes the file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text_of(record))
