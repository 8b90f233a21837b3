#!/usr/bin/env python3
"""Describes the driver's functions once: writes functions.inc from the headers of all toolkits.

    functions.py INCLUDE...           writes the table from the headers in these folders, the newest toolkit first
    functions.py --enumerators INCLUDE  prints the names of enumerators, for the build: a toolkit's own names are enough for its programs
    functions.py --check INCLUDE...   lists the functions that these headers have and functions.inc lacks
    functions.py --readme [--check]   writes (or checks) the list of implemented functions in the simulator's README

cuda*Typedefs.h says which versions of a function exist and which release introduced each (PFN_<name>_v<release>, and
PFN_<name>_v<release>_ptsz or _ptds for per-thread default streams). The first version's symbol is the name itself, the second's
ends in _v2, and so on. cuda.h says what the parameters of each symbol are.
"""

import collections
import glob
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FUNCTIONS = os.path.join(HERE, "functions.inc")
README = os.path.join(HERE, "..", "README.md")
OLDEST_TOOLKIT = 12000
COMPILER = shlex.split(os.environ.get("CXX") or "g++")

TYPEDEF = re.compile(r"PFN_(cu[A-Z]\w*?)_v(\d+)(_ptsz|_ptds)?\)")
PROTOTYPE = re.compile(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(([^()]*)\)\s*;")
ROW = re.compile(r"^[A-Z_0-9()]+\((\w+), (\d+), (\w+)", re.MULTILINE)
ENUM = re.compile(r"typedef\s+enum\s+(\w+)\s*\{(.*?)\}\s*\w+\s*;", re.DOTALL)
MACRO = re.compile(r"^#define\s+(\w+)\s+\(?(0[xX][0-9a-fA-F]+|\d+)\)?\s*$", re.MULTILINE)

WINDOWS_ONLY = {"cuWGLGetDevice"}
# Besides those whose parameters have a type of their own: first versions that need a context with 32-bit pointers.
SIZES_OF_32_BITS = {
    "cuMemAllocHost",
    "cuMemGetInfo",
    "cuMemHostRegister",
    "cuMemcpyAtoA",
    "cuMemcpyAtoH",
    "cuMemcpyAtoHAsync",
    "cuMemcpyHtoA",
    "cuMemcpyHtoAAsync",
}
# Functions without a first version that need a context with 64-bit pointers (an H200, driver 580).
ONLY_64_BITS = {
    "cuMemAdvise",
    "cuMemAllocManaged",
    "cuMemcpy",
    "cuMemcpyAsync",
    "cuMemcpyPeer",
    "cuMemcpyPeerAsync",
    "cuMemcpy3DPeer",
    "cuMemcpy3DPeerAsync",
    "cuMipmappedArrayCreate",
    "cuMemsetD8Async",
    "cuMemsetD16Async",
    "cuMemsetD32Async",
    "cuMemsetD2D8Async",
    "cuMemsetD2D16Async",
    "cuMemsetD2D32Async",
}
# Functions that go on in a process that is locked for a checkpoint: they describe the library, or lock and unlock.
EVEN_LOCKED = ("cuCheckpoint", "cuDriverGetVersion", "cuGetError", "cuGetProcAddress")
# First versions for which no driver's result is recorded.
UNRECORDED = ("cuGraphics",)
# Types of the first versions, which cuda.h declares for the driver only: api/first_types.hpp has them.
FIRST_TYPES = {
    "CUdeviceptr_v1": "FirstPointer",
    "CUDA_ARRAY_DESCRIPTOR_v1": "FirstArray",
    "CUDA_ARRAY3D_DESCRIPTOR_v1": "FirstArray3D",
    "CUDA_MEMCPY2D_v1": "FirstCopy2D",
    "CUDA_MEMCPY3D_v1": "FirstCopy3D",
}

# Enumerations and macros whose values are passed as plain numbers; trace.cpp knows which argument takes which.
FLAGS = (
    "CUctx_flags",
    "CUevent_flags",
    "CUevent_record_flags",
    "CUevent_wait_flags",
    "CUgraphInstantiate_flags",
    "CUipcMem_flags",
    "CUmemAttach_flags",
    "CUoccupancy_flags",
    "CUstream_flags",
    "CUstreamWaitValue_flags",
    "CUstreamWriteValue_flags",
    "CUuserObject_flags",
    "CUuserObjectRetain_flags",
    "CUgraphDebugDot_flags",
    "CUgreenCtxCreate_flags",
    "CUdriverProcAddress_flags",
)
MACRO_FAMILIES = ("CU_MEMHOSTALLOC", "CU_MEMHOSTREGISTER", "CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE")

# Why the functions that are not implemented are refused, by the beginning of their names.
REASONS = {
    "graphics: a device without any has nothing to share": (
        "cuEGL",
        "cuGL",
        "cuGraphics",
        "cuVDPAU",
        "cuEventCreateFromEGLSync",
        "cuStreamBeginCaptureToCig",
        "cuStreamEndCaptureToCig",
    ),
    "links between machines: the simulated machine is alone": ("cuDeviceGetClique", "cuDeviceGetFabric", "cuFabric", "cuLogicalEndpoint"),
    "core dumps of the device: a fault is reported on stderr": ("cuCoredump",),
    "sparse arrays": ("cuArrayGetSparse", "cuMemMapArrayAsync", "cuMipmappedArrayGetSparse"),
    "a thread that restores a checkpoint: the simulated device's memory is the process's own": ("cuCheckpoint",),
    "newer than CUDA 13.0: no driver's result is recorded": (
        "cuDevSmResourceSplit",
        "cuMemGetLocationInfo",
        "cuStreamBeginRecaptureToGraph",
        "cuTensorMapSetAllocationClass",
    ),
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- Reading the headers


def versions(folders):
    """{name: ({release}, {(release, suffix of the per-thread form)})}"""
    found = collections.defaultdict(lambda: (set(), set()))
    for folder in folders:
        for path in glob.glob(os.path.join(folder, "cuda*Typedefs.h")):
            for name, release, suffix in TYPEDEF.findall(read(path)):
                if name not in WINDOWS_ONLY:
                    found[name][1 if suffix else 0].add((int(release), suffix) if suffix else int(release))
    return found


def symbols(found):
    """(name, release, symbol, release of the per-thread form or 0, its suffix)"""
    for name, (plain, per_thread) in sorted(found.items()):
        plain, per_thread = sorted(plain), sorted(per_thread)
        first = len(plain) - len(per_thread)  # versions older than CUDA 7.0 have no per-thread form
        for index, since in enumerate(plain):
            symbol = name if index == 0 else f"{name}_v{index + 1}"
            yield (name, since, symbol) + (per_thread[index - first] if per_thread and index >= first else (0, ""))


def prototypes(folders):
    """{symbol: [parameter, ...]}, and the words in the headers of each release, the oldest last.

    With this macro cuda.h declares every version of a function under its own symbol.
    """
    found, words = {}, {}
    for folder in folders:
        headers = [header for header in ("cuda.h", "cudaProfiler.h") if os.path.exists(os.path.join(folder, header))]
        text = "".join(f'#include "{os.path.join(folder, header)}"\n' for header in headers)
        compiled = subprocess.run(
            [*COMPILER, "-E", "-P", "-x", "c++", "-D__CUDA_API_VERSION_INTERNAL", "-I", folder, "-"], input=text, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        words[int(re.search(r"#define CUDA_VERSION (\d+)", read(os.path.join(folder, "cuda.h"))).group(1))] = set(re.findall(r"\w+", compiled))
        for symbol, parameters in PROTOTYPE.findall(compiled):
            parameters = [re.sub(r"\s*\*\s*", "* ", " ".join(each.split())).replace("* *", "**").replace("* *", "**") for each in parameters.split(",")]
            # cudaProfiler.h, which declares this type, is not in every toolkit.
            parameters = [re.sub("^CUoutput_mode ", "int ", each) for each in parameters if each not in ("", "void")]
            found.setdefault(re.sub("_pt[ds][sz]$", "", symbol), parameters)
    return found, words


def release_of_types(parameters, since, words):
    """The oldest release whose cuda.h is known to declare all that the parameters need."""
    needed = {word for each in parameters for word in re.findall(r"\w+", each)[:-1]}
    return min([since] + [release for release, known in words.items() if needed <= known])


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    return re.sub(r"^#(?!define).*$", "", re.sub(r"//.*", "", text), flags=re.MULTILINE)


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


def enumerations(folders):
    """{type: {enumerator: value}}"""
    found = {}
    for folder in folders:
        text, known = without_comments(read(os.path.join(folder, "cuda.h"))), {}
        for tag, body in ENUM.findall(text):
            named = found.setdefault(tag.removesuffix("_enum"), {})
            for name, value in enumerators(body, known):
                if not name.endswith(("_MASK", "_MAX")) and value not in named.values():
                    named[name] = value
        for name, value in MACRO.findall(text):
            for family in MACRO_FAMILIES:
                if name.startswith(family + "_"):
                    found.setdefault(family, {}).setdefault(name, int(value, 0))
    return found


# ---- Writing the tables


def is_first_version(symbol, since, parameters):
    return symbol in SIZES_OF_32_BITS or (since < 3020 and parameters is not None and any("_v1" in each for each in parameters))


def admits(name, symbol, first):
    """Which callers a function admits; `first`: the names that have a first version."""
    if name.startswith(EVEN_LOCKED):
        return "locked"
    if name == "cuMemHostRegister":
        return "all"
    if name in first:
        return "first" if symbol == name else "newer"
    return "newer" if name in ONLY_64_BITS else "all"


def row(known, words, first, name, since, symbol, per_thread_since, suffix):
    parameters, head = known.get(symbol), f"({name}, {since}, {symbol}, {admits(name, symbol, first)}"
    kind, per_thread = ("PER_THREAD", f", {per_thread_since}, {suffix}") if suffix else ("FUNCTION", "")
    old = is_first_version(symbol, since, parameters)
    if parameters is None or (old and name.startswith(UNRECORDED)):
        return f"UNKNOWN_{kind}{head}{per_thread})"
    arguments = "".join(", " + re.search(r"\w+$", each).group() for each in parameters)
    if old:
        typed = re.sub(r"\w+", lambda word: FIRST_TYPES.get(word.group(), word.group()), ", ".join(parameters))
        return f"FIRST_VERSION{head}, {first[name]}, ({typed}){arguments})"
    needs = release_of_types(parameters, since, words)
    kind = kind if needs <= OLDEST_TOOLKIT else f"SINCE_{needs // 1000}_{needs % 1000 // 10}({kind})"
    return f"{kind}{head}{per_thread}, ({', '.join(parameters)}){arguments})"


def write_functions(folders):
    known, words = prototypes(folders)
    rows = list(symbols(versions(folders)))
    newest = {name: symbol for name, _, symbol, *_ in rows}
    first = {name: newest[name] for name, since, symbol, *_ in rows if is_first_version(symbol, since, known.get(symbol)) and not name.startswith(UNRECORDED)}
    written = [row(known, words, first, *each) for each in rows]
    releases = sorted({int(major) * 1000 + int(minor) * 10 for major, minor in re.findall(r"^SINCE_(\d+)_(\d+)", "\n".join(written), re.MULTILINE)})
    with open(FUNCTIONS, "w", encoding="utf-8") as table:
        table.write("""\
// Every function that the driver exports. Written by functions.py from the headers of CUDA 13.5 to 12.0; do not edit.
//
//   FUNCTION(name, release that introduced it, symbol, admits, (parameters), arguments...)
//   PER_THREAD(name, release, symbol, admits, release and suffix of its form for per-thread default streams, (parameters),
//              arguments...)
//   FIRST_VERSION(name, release, symbol, admits, newest symbol, (parameters), arguments...)   pointers and sizes of 32 bits
//   UNKNOWN_FUNCTION(...), UNKNOWN_PER_THREAD(...)         cuda.h does not declare the types of its parameters
//
// `admits` says which callers a function serves (Admits in exports.cpp). The file that includes this one defines the five
// macros.
""")
        for since in releases:
            name = f"SINCE_{since // 1000}_{since % 1000 // 10}(kind)"
            table.write(f"#if CUDA_VERSION >= {since}\n#define {name} kind\n#else\n#define {name} UNKNOWN_##kind\n#endif\n")
        table.write("\n".join(written) + "\n")
        for since in releases:
            table.write(f"#undef SINCE_{since // 1000}_{since % 1000 // 10}\n")
        for kind in ("FUNCTION", "PER_THREAD", "FIRST_VERSION", "UNKNOWN_FUNCTION", "UNKNOWN_PER_THREAD"):
            table.write(f"#undef {kind}\n")


def print_enumerators(folders):
    """ENUMERATOR(type, value, name) for each enumerator of the types that the driver's functions take."""
    used = set(FLAGS) | set(MACRO_FAMILIES)
    for parameters in prototypes(folders)[0].values():
        used.update(word.removesuffix("_enum") for each in parameters for word in re.findall(r"\bCU\w+", each))
    used.discard("CUresult")
    known = enumerations(folders)
    for tag in sorted(used & set(known)):
        for name, value in sorted(known[tag].items(), key=lambda item: item[1]):
            print(f"ENUMERATOR({tag}, {value}, {name})")


def check(folders):
    known = set(ROW.findall(read(FUNCTIONS)))
    missing = [name + " of CUDA " + str(since) for name, since, symbol, *_ in symbols(versions(folders)) if (name, str(since), symbol) not in known]
    print("\n".join(missing) or "functions.inc has every function of " + ", ".join(folders))
    return 1 if missing else 0


# ---- The README's list


def implemented():
    """{symbol: file}"""
    found = dict.fromkeys(re.findall(r"^FIRST_VERSION\(\w+, \d+, (\w+)", read(FUNCTIONS), re.MULTILINE), "first_versions.cpp")
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".cpp"):
            found.update(dict.fromkeys(defined_in(read(os.path.join(HERE, name))), name))
    return found


def defined_in(text):
    """The symbols that a file defines: written out, or by rows of a macro whose first argument is a part of the name."""
    yield from re.findall(r"^CUresult driver::call_(\w+)\(", text, re.MULTILINE)
    for macro, body in re.findall(r"^#define (\w+)\(\w+,.*?\)((?:.*\\\n)*.*)", text, re.MULTILINE):
        for row in re.findall(rf"^{macro}\((\w+),", text, re.MULTILINE):
            yield from (begin + row for begin in beginnings(text, body))


def beginnings(text, body):
    """What stands before the argument in the symbols that a macro defines, itself or through other macros."""
    yield from re.findall(r"driver::call_(\w*?)##\w+\(", body)
    for macro in re.findall(r"^ *([A-Z_]+)\(", body, re.MULTILINE):
        for other in re.findall(rf"^#define {macro}\(\w+,.*?\)((?:.*\\\n)*.*)", text, re.MULTILINE):
            yield from beginnings(text, other)


def reason(name):
    for why, beginnings in REASONS.items():
        if name.startswith(beginnings):
            return why
    sys.exit(f"functions.py: {name} is refused, and REASONS does not say why")


def readme():
    files, forms = implemented(), collections.defaultdict(list)
    chapters, refused, old = collections.defaultdict(list), [], []
    for name, _, symbol in ROW.findall(read(FUNCTIONS)):
        forms[name].append(symbol)
    for name, all_forms in sorted(forms.items()):
        here = [files[form] for form in all_forms if form in files]
        if not here:
            refused.append(name)
            continue
        chapters[here[-1]].append(name)
        if all_forms[0] not in files:
            old.append(name)
    count = sum(len(names) for names in chapters.values())
    text = (
        f"<details><summary>{count} of the API's {len(forms)} functions are implemented; the others return <code>CUDA_ERROR_NOT_SUPPORTED</code></summary>\n\n"
    )
    text += "| in | functions |\n| --- | --- |\n"
    for file, names in sorted(chapters.items()):
        text += f"| `{file}` | {', '.join(names)} |\n"
    text += f"| not supported, first version only | {', '.join(old)} |\n"
    for why in REASONS:
        text += f"| not supported: {why} | {', '.join(name for name in refused if reason(name) == why)} |\n"
    return text + "\n</details>\n"


def write_readme(only_check):
    begin, end = "<!-- functions.py writes this -->\n", "<!-- functions.py wrote this -->\n"
    before, rest = read(README).split(begin)
    written, after = rest.split(end)
    wanted = readme()
    if not only_check:
        with open(README, "w", encoding="utf-8") as file:
            file.write(before + begin + wanted + end + after)
    elif written != wanted:
        print("The list of functions in common/simulator/README.md is out of date: run python3 common/simulator/api/functions.py --readme")
        return 1
    return 0


def main():
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if "--readme" in options:
        return write_readme("--check" in options)
    if not any(glob.glob(os.path.join(folder, "cudaTypedefs.h")) for folder in folders):
        sys.exit("functions.py: no cudaTypedefs.h in " + (", ".join(folders) or "no folder") + ". Name the toolkits' include folders")
    if "--check" in options:
        return check(folders)
    if "--enumerators" in options:
        print_enumerators(folders)
    else:
        write_functions(folders)
    return 0


if __name__ == "__main__":
    sys.exit(main())
