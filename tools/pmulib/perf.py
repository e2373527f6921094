# SPDX-License-Identifier: Apache-2.0
"""What perf reads: the JSON files of its own tree, and events written on its command line."""
import json
import os

from .selectors import RAW_V1_BITS
from .tables import TableError


def term(selector, name):
    """An event as perf's command line takes it."""
    return f"cpu/config={selector:#x},name={name}/"


def lines(table):
    """A line for each event."""
    return [term(table.layout.encode(event), event.id) for event in table.all_events()]


def fits_v1(selector):
    """Is it within event data of type 2?"""
    return selector >> RAW_V1_BITS == 0


def documents(table):
    """{file name: content} of the folder of a core in pmu-events/arch/riscv."""
    files = {}
    for group in table.groups:
        files[group.name + ".json"] = [
            {"EventName": event.id, "EventCode": f"{table.layout.encode(event):#x}",
             "BriefDescription": sentence(event.text)}
            for event in group.events if not event.nothing]
    if table.metrics:
        files["metrics.json"] = [
            {"MetricName": metric.name, "MetricExpr": metric.formula,
             "BriefDescription": sentence(metric.text)} for metric in table.metrics]
    return {name: json.dumps(content, indent=2) + "\n" for name, content in files.items()}


def sentence(text):
    """With a capital letter."""
    return text[0].upper() + text[1:]


def map_line(table):
    """The line of mapfile.csv."""
    vendor, cpuid = table.perf
    return f"{cpuid},v1,{vendor}/{table.core},core"


def write(table, folder):
    """Writes the files into FOLDER, which is pmu-events/arch/riscv of a kernel tree or stands for
    it, and adds the line to its mapfile.csv. Returns the paths. TableError, OSError."""
    if not table.perf:
        raise TableError(f"{table.core}: has no `perf` that names a vendor and the hart's ids, so "
                         "perf cannot find its events")
    own = os.path.join(folder, table.perf[0], table.core)
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
