#!/usr/bin/env python3
"""Writes entry_points.inc, the table of the driver API's public names, or compares it with a toolkit.

    entry_points.py INCLUDE...          writes the table from the headers in these folders (several toolkits are joined)
    entry_points.py --check INCLUDE...  names what the headers have and the table lacks; exit status 1 if there is any

The facts come from the typedefs PFN_<name>_v<version>[_ptsz|_ptds] of cuda*Typedefs.h: which function exists since which
version of CUDA. The symbol of a name's first version is the name, the second's has the suffix _v2, and so on.
"""
import collections
import glob
import os
import re
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry_points.inc")
TYPEDEF = re.compile(r"PFN_(cu[A-Z]\w*?)_v(\d+)(_ptsz|_ptds)?\)")
WINDOWS_ONLY = {"cuWGLGetDevice"}


def versions(folders):
    """{name: ({version}, {(version, suffix of the per-thread form)})}"""
    found = collections.defaultdict(lambda: (set(), set()))
    for folder in folders:
        for path in glob.glob(os.path.join(folder, "cuda*Typedefs.h")):
            with open(path) as header:
                for name, version, per_thread in TYPEDEF.findall(header.read()):
                    if name not in WINDOWS_ONLY:
                        found[name][1 if per_thread else 0].add(
                            (int(version), per_thread) if per_thread else int(version))
    return found


def rows(found):
    for name, (plain, per_thread) in sorted(found.items()):
        # A per-thread form that is younger than its function answers to the version of its own, 7.0 and later.
        plain, per_thread = sorted(plain), sorted(per_thread)
        first = len(plain) - len(per_thread)  # versions older than 7.0 have no per-thread form
        for index, since in enumerate(plain):
            symbol = name if index == 0 else f"{name}_v{index + 1}"
            if per_thread and index >= first:
                pt_since, suffix = per_thread[index - first]
                yield f"ENTRY_PER_THREAD({name}, {since}, {symbol}, {pt_since}, {symbol}{suffix})"
            else:
                yield f"ENTRY({name}, {since}, {symbol})"


def main():
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    wanted = list(rows(versions(folders)))
    if not wanted:
        sys.exit("entry_points.py: no cuda*Typedefs.h in " + (", ".join(folders) or "no folder"))
    if "--check" in sys.argv:
        with open(TABLE) as table:
            missing = sorted(set(wanted) - set(table.read().split("\n")))
        print("\n".join(missing) or "entry_points.inc has every name of " + ", ".join(folders))
        sys.exit(1 if missing else 0)
    with open(TABLE, "w") as table:
        table.write("// The driver API's public names: ENTRY(name, CUDA version it came with, symbol), and the per-thread form\n"
                    "// likewise. Written by entry_points.py from the typedefs of the toolkits' headers, 12.0 to 13.5.\n")
        table.write("\n".join(wanted) + "\n")


if __name__ == "__main__":
    main()
