# SPDX-License-Identifier: Apache-2.0
"""What perf reads: the JSON files of its own tree, and events written on its command line."""
import json
import os

from .selectors import RAW_V1_BITS
from .tables import TableError


def term(table, selector, name):
    """An event as perf's command line takes it; None where perf has no words for it.

    A raw event is a number in `config`. Kernels that know raw v1 alone drop the bits above of it,
    and count something else; `event` is a field of as many bits as the kernel takes, so perf
    refuses there what does not fit. Where the core offers no raw events the SBI's own may be the
    same."""
    if table.raw:
        return f"cpu/{'config' if fits_v1(selector) else 'event'}={selector:#x},name={name}/"
    for standard in table.standard:
        if standard.selector == selector:
            return f"{standard.name}/name={name}/"
    return None


def lines(table):
    """A line for each event that perf can ask for."""
    terms = (term(table, table.layout.encode(event), event.id) for event in table.all_events())
    return [line for line in terms if line]


def fits_v1(selector):
    """Is it within event data of type 2?"""
    return selector >> RAW_V1_BITS == 0


def documents(table):
    """{file name: content} of the folder of a core in pmu-events/arch/riscv. perf opens what is
    there as raw events, so there are none where the core offers none."""
    files = {}
    for group in table.groups if table.raw else ():
        files[group.name + ".json"] = [
            {"EventName": event.id, "EventCode": f"{table.layout.encode(event):#x}",
             "BriefDescription": sentence(event.text)}
            for event in group.events if not event.nothing]
    if table.metrics:
        files["metrics.json"] = [
            {"MetricName": metric.name, "MetricExpr": metric.for_perf(),
             "BriefDescription": sentence(metric.text)} for metric in table.metrics]
    return {name: json.dumps(content, indent=2) + "\n" for name, content in files.items()}


def sentence(text):
    """With a capital letter."""
    return text[0].upper() + text[1:]


def place(table):
    """The folders of a table below pmu-events/arch/riscv. TableError where it has none."""
    if not table.perf:
        raise TableError(f"{table.core}: has no `perf` that names a vendor and the hart's ids, so "
                         "perf cannot find its events")
    return table.perf[0], table.core


def map_line(table):
    """The line of mapfile.csv."""
    return f"{table.perf[1]},v1,{'/'.join(place(table))},core"


def write(table, folder):
    """Writes the files into FOLDER, which is pmu-events/arch/riscv of a kernel tree or stands for
    it, and adds the line to its mapfile.csv. Returns the paths. TableError, OSError."""
    own = os.path.join(folder, *place(table))
    files = documents(table)
    strange = sorted(set(os.listdir(own)) - set(files)) if os.path.isdir(own) else []
    if strange:
        raise TableError(f"{own}: has {', '.join(strange)}, whose events would be there twice; "
                         "remove what is not from here")
    mapfile = os.path.join(folder, "mapfile.csv")
    known = []
    if os.path.exists(mapfile):
        with open(mapfile, encoding="utf-8") as file:
            known = file.read().splitlines()
    line = map_line(table)
    for other in known:
        if other != line and other.split(",")[0] == table.perf[1]:
            raise TableError(f"{mapfile}: gives these harts other events: {other}")
    os.makedirs(own, exist_ok=True)
    for name, content in files.items():
        with open(os.path.join(own, name), "w", encoding="utf-8") as file:
            file.write(content)
    if line not in known:
        with open(mapfile, "a", encoding="utf-8") as file:
            file.write(line + "\n")
    return [os.path.join(own, name) for name in files] + [mapfile]
