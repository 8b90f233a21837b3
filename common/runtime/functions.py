#!/usr/bin/env python3
"""Writes functions.inc: every function of the runtime's headers, of CUDA 12 and of CUDA 13.

    common/runtime/functions.py FOLDER FOLDER…        folders with cuda_runtime_api.h, of all toolkits that are to be served
    common/runtime/functions.py --missing FOLDER…     only says which functions are not in functions.inc yet

The names come from the declarations, and from the macros that add _ptsz and _ptds to them. A function that no file of
this folder defines returns cudaErrorNotSupported (missing.cpp).
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = ("cuda_runtime_api.h", "cuda_profiler_api.h", "cuda_gl_interop.h", "cuda_egl_interop.h", "cuda_vdpau_interop.h")
# What nvcc's code calls; declared in crt/host_runtime.h and crt/device_functions.h.
COMPILERS = """__cudaRegisterFatBinary __cudaRegisterFatBinaryEnd __cudaUnregisterFatBinary __cudaRegisterVar
__cudaRegisterManagedVar __cudaInitModule __cudaRegisterTexture __cudaRegisterSurface __cudaRegisterFunction
__cudaPushCallConfiguration __cudaPopCallConfiguration __cudaGetKernel __cudaLaunchKernel __cudaLaunchKernel_ptsz""".split()


def without_comments(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


def names_in(folder):
    names = set()
    for header in HEADERS:
        path = pathlib.Path(folder) / header
        if not path.is_file():
            continue
        text = without_comments(path.read_text(encoding="latin-1"))
        declared = set(re.findall(r"CUDARTAPI(?:_CDECL)?\s+(cuda\w+)\s*\(", text))
        renamed = dict(re.findall(r"#\s*define\s+(cuda\w+)\s+(cuda\w+)\s*$", text, flags=re.MULTILINE))
        for suffix, target in re.findall(r"#\s*define\s+cuda\w+\s+__CUDART_API_(PTDS|PTSZ)\((cuda\w+)\)", text):
            names.add(target)
            names.add(f"{target}_{suffix.lower()}")
        names |= {name for name in declared if not name.startswith("cuda_")} | set(renamed.values())
    return names


def main(folders):
    if not folders:
        sys.exit(__doc__)
    if folders[0] == "--missing":
        known = set(re.findall(r"FUNCTION\((\w+)\)", (HERE / "functions.inc").read_text()))
        missing = sorted(set().union(*(names_in(folder) for folder in folders[1:])) - known)
        sys.exit(f"functions.inc lacks: {' '.join(missing)}" if missing else 0)
    names = sorted(set().union(*(names_in(folder) for folder in folders)) | set(COMPILERS))
    lines = "".join(f"FUNCTION({name})\n" for name in names)
    (HERE / "functions.inc").write_text(f"// Written by functions.py: {len(names)} functions.\n{lines}")
    print(f"{len(names)} functions")


if __name__ == "__main__":
    main(sys.argv[1:])
