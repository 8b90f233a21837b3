#!/usr/bin/env python3
"""Writes manual.inc: what the manual calls the arguments of each function, and the enumerators that they can be.

    manual.py INCLUDE...    from cuda.h in these folders, the newest first: what one lacks the next may have
"""
import os
import re
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "manual.inc")
PROTOTYPE = re.compile(r"CUresult\s+CUDAAPI\s+(cu[A-Z]\w*)\s*\(([^;{]*)\)\s*;")
ENUM = re.compile(r"typedef\s+enum\s+(\w+)\s*\{(.*?)\}\s*\w+\s*;", re.DOTALL)
MACRO = re.compile(r"^#define\s+(\w+)\s+\(?(0[xX][0-9a-fA-F]+|\d+)\)?\s*$", re.MULTILINE)
FAMILIES = ("CU_MEMHOSTALLOC", "CU_MEMHOSTREGISTER", "CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE")
# Enumerations that a plain number may be one, or several, of; trace.cpp says which argument of which function.
BITS = ("CUctx_flags", "CUevent_flags", "CUevent_record_flags", "CUevent_wait_flags", "CUgraphInstantiate_flags",
        "CUipcMem_flags", "CUmemAttach_flags", "CUoccupancy_flags", "CUstream_flags", "CUstreamWaitValue_flags",
        "CUstreamWriteValue_flags", "CUuserObject_flags", "CUuserObjectRetain_flags", "CUgraphDebugDot_flags",
        "CUgreenCtxCreate_flags", "CUdriverProcAddress_flags")


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    return re.sub(r"^#(?!define).*$", "", re.sub(r"//.*", "", text), flags=re.MULTILINE)


def parameters(text):
    names = []
    for parameter in text.split(","):
        name = re.search(r"(\w+)\s*(?:\[\w*\])?\s*$", parameter)
        if name and name.group(1) != "void":
            names.append(name.group(1))
    return names


def enumerators(body, known):
    value = -1
    for entry in body.split(","):
        name, _, text = (part.strip() for part in entry.partition("="))
        if not re.fullmatch(r"\w+", name):
            continue
        try:
            value = eval(re.sub(r"(?<=[0-9a-fA-F])[uUlL]+\b", "", text), {}, known) if text else value + 1
        except (NameError, SyntaxError):
            continue
        known[name] = value
        yield name, value


def main():
    functions, enums, used = {}, {}, set(BITS)
    for folder in sys.argv[1:]:
        with open(os.path.join(folder, "cuda.h"), encoding="utf-8") as header:
            text = without_comments(header.read())
        for name, arguments in PROTOTYPE.findall(text):
            name = re.sub(r"_v\d+$|_pt[sd][zs]$", "", name)
            names = parameters(arguments)
            functions.setdefault((name, len(names)), names)
            used.update(word.removesuffix("_enum") for word in re.findall(r"\bCU\w+", arguments))
        known = {}
        for tag, body in ENUM.findall(text):
            named = enums.setdefault(tag.removesuffix("_enum"), {})
            for name, value in enumerators(body, known):
                if not name.endswith(("_MASK", "_MAX")) and not any(value == other for other in named.values()):
                    named[name] = value
        for name, value in MACRO.findall(text):
            for family in FAMILIES:
                if name.startswith(family + "_"):
                    enums.setdefault(family, {}).setdefault(name, int(value, 0))
    used.update(FAMILIES)
    used.discard("CUresult")
    with open(TABLE, "w", encoding="utf-8") as table:
        table.write("// What the manual calls the arguments of each function, FUNCTION(name, how many, names), and enumerators, \n"
                    "// ENUMERATOR(type, value, name). Written by manual.py from cuda.h of CUDA 13.5 and 12.0.\n"
                    "#ifdef FUNCTION\n".replace(", \n", ",\n"))
        for (name, count), names in sorted(functions.items()):
            if count:
                table.write(f'FUNCTION({name}, {count}, "{", ".join(names)}")\n')
        table.write("#endif\n#ifdef ENUMERATOR\n")
        for tag in sorted(used & set(enums)):
            for name, value in sorted(enums[tag].items(), key=lambda item: item[1]):
                table.write(f"ENUMERATOR({tag}, {value}, {name})\n")
        table.write("#endif\n")


if __name__ == "__main__":
    main()
