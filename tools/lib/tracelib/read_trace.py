# SPDX-License-Identifier: Apache-2.0
"""A file of tools/tally-trace, read again: its stays, and who had which hart."""
import dataclasses
import json

from perflib.samples import BadSamples


@dataclasses.dataclass
class Bar:
    """Of a track. begin, end: nanoseconds of the machine's time."""
    track: str
    name: str
    begin: int
    end: int
    args: dict


class File:
    """Bars by their category: stay, resident, idle, lost, steal."""

    def __init__(self, path):
        try:
            with open(path, encoding="utf-8") as file:
                whole = json.load(file)
            self.vcpus = whole["otherData"]["vcpus"]
            tracks = {(event["pid"], event["tid"]): event["args"]["name"]
                      for event in whole["traceEvents"] if event["name"] == "thread_name"}
            self.bars = {}
            for event in whole["traceEvents"]:
                if event["ph"] == "X":
                    begin = round(event["ts"] * 1000)
                    self.bars.setdefault(event["cat"], []).append(
                        Bar(tracks[event["pid"], event["tid"]], event["name"], begin,
                            begin + round(event["dur"] * 1000), event["args"]))
        except (ValueError, KeyError, TypeError) as error:
            raise BadSamples(f"{path}: is no whole trace of tools/tally-trace") from error

    def of(self, category):
        """[Bar], in the order of time."""
        return sorted(self.bars.get(category, ()), key=lambda bar: bar.begin)
