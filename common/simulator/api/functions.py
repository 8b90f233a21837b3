#!/usr/bin/env python3
"""Writes the table of the driver API's functions into the simulator's README, from the code: which are implemented, and where.

    functions.py            writes it
    functions.py --check    says where README and code disagree; exit status 1 if they do

A function is implemented if a file of this folder defines it (CUDASIM_API CUresult name, or by a macro that is told its
name); the other names of entry_points.inc exist and refuse. Names are given without the suffixes of their versions and per-thread forms.
"""
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(HERE, "..", "README.md")
BEGIN, END = "<!-- functions.py writes this -->\n", "<!-- functions.py wrote this -->\n"
ENTRY = re.compile(r"ENTRY(?:_PER_THREAD)?\((\w+), (\d+), (\w+)")
DEFINITION = re.compile(r"^CUDASIM_API CUresult (\w+)\(", re.MULTILINE)
BY_MACRO = re.compile(r"^[A-Z][A-Z_0-9]+\((cu\w+),\s*(cu\w+)", re.MULTILINE)


# Why what refuses does, by the beginning of its name.
WHY = {
    "graphics, which a device without any has nothing to share with": (
        "cuEGL", "cuGL", "cuGraphics", "cuVDPAU", "cuEventCreateFromEGLSync", "cuStreamBeginCaptureToCig",
        "cuStreamEndCaptureToCig"),
    "links between machines, of which there are none": (
        "cuDeviceGetClique", "cuDeviceGetFabric", "cuFabric", "cuLogicalEndpoint"),
    "news of core dumps, of which none is made": ("cuCoredump",),
    "a thread that restores, which memory of the process's own does not need": ("cuCheckpoint",),
    "newer than CUDA 13.0, and no answer of a driver is recorded": (
        "cuDevSmResourceSplit", "cuMemGetLocationInfo", "cuStreamBeginRecaptureToGraph",
        "cuTensorMapSetAllocationClass"),
}


def reason(name):
    for why, beginnings in WHY.items():
        if name.startswith(beginnings):
            return why
    sys.exit(f"{name} refuses: say why in functions.py")


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def defined():
    """{symbol: file}"""
    found = {}
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".cpp"):
            text = read(name)
            for symbol in DEFINITION.findall(text) + [symbol for pair in BY_MACRO.findall(text) for symbol in pair]:
                found[symbol] = name
    return found


def table():
    symbols = defined()
    places, refused, old = collections.defaultdict(list), [], []
    forms = collections.defaultdict(list)
    for name, _, symbol in ENTRY.findall(read("entry_points.inc")):
        forms[name].append(symbol)
    for name, all_forms in sorted(forms.items()):
        here = [symbols[form] for form in [name] + all_forms if form in symbols]
        if not here:
            refused.append(name)
            continue
        places[here[-1]].append(name)
        if all_forms[0] not in symbols:
            old.append(name)
    count = sum(len(names) for names in places.values())
    text = f"<details><summary>{count} of the API's {len(forms)} functions are implemented; the others refuse</summary>\n\n"
    text += "| in | functions |\n| --- | --- |\n"
    for file, names in sorted(places.items()):
        text += f"| `{file}` | {', '.join(names)} |\n"
    text += f"| first versions refuse, as a driver of 64 bits does | {', '.join(old)} |\n"
    for why in WHY:
        text += f"| refused: {why} | {', '.join(name for name in refused if reason(name) == why)} |\n"
    return text + "\n</details>\n"


def main():
    with open(README, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    written, after = rest.split(END)
    wanted = table()
    if "--check" in sys.argv:
        if written != wanted:
            sys.exit("The table in common/simulator/README.md is not what the code says: run common/simulator/api/functions.py")
        return
    with open(README, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + wanted + END + after)


if __name__ == "__main__":
    main()
