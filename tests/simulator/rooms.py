#!/usr/bin/env python3
"""The rooms of the simulator: an include may lead down, never up. The same order is in common/simulator/README.md."""

import pathlib
import re
import sys

SIMULATOR = pathlib.Path(__file__).resolve().parents[2] / "common" / "simulator"
ROOMS = [  # from the top; ".": the folder itself
    "api",
    "state/reports",
    "state/linking",
    "state/graphs",
    "state/launches",
    "state/textures",
    "state/modules",
    "state/memory",
    "state/contexts",
    "state/streams",
    "state/devices",
    "state/processes",
    "state/errors",
    "watch",
    "profile",
    "ptx",
    "compile",
    "isa",
    "exec",
    "memory",
    ".",
]
INCLUDE = re.compile(r'\s*#\s*include\s+"common/simulator/([^"]+)"')


def room_of(file):
    return str(pathlib.PurePath(file).parent)


def upward_includes(sources):
    """A sentence for each upward include among `sources`, a dictionary of texts by their paths in common/simulator."""
    found = []
    for file, text in sources.items():
        for number, line in enumerate(text.splitlines(), 1):
            included = INCLUDE.match(line)
            if included is None:
                continue
            here, there = room_of(file), room_of(included[1])
            if ROOMS.index(there) < ROOMS.index(here):
                found.append(f"common/simulator/{file}:{number} includes {included[1]}: {here} is below {there} and must not know it.")
    return found


def sources():
    files = [file for file in SIMULATOR.rglob("*") if file.suffix in (".cpp", ".hpp", ".inc")]
    return {str(file.relative_to(SIMULATOR)): file.read_text(encoding="utf-8") for file in files}


def test_every_room_has_its_place_in_the_order():
    assert {room_of(file) for file in sources()} == set(ROOMS)


def test_no_include_leads_up():
    assert not upward_includes(sources()), "\n".join(upward_includes(sources()))


def test_an_upward_include_is_named_with_its_line():
    made_up = {
        "exec/warp.cpp": '#include <map>\n#include "common/simulator/state/streams/stream.hpp"\n',
        "state/errors/a.cpp": '#include "common/simulator/types.hpp"\n',
    }
    assert upward_includes(made_up) == ["common/simulator/exec/warp.cpp:2 includes state/streams/stream.hpp: exec is below state/streams and must not know it."]


if __name__ == "__main__":
    for test in (test_every_room_has_its_place_in_the_order, test_an_upward_include_is_named_with_its_line):
        test()
    complaints = upward_includes(sources())
    print("\n".join(complaints) or "Every include leads down.")
    sys.exit(1 if complaints else 0)
