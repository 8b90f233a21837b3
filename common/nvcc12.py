#!/usr/bin/env python3
"""An `nvcc` made from NVRTC, for the private toolkit of CUDA 12: its Python wheels contain NVIDIA's run-time compiler, but no nvcc.

Set-up copies this file to bin/nvcc of that toolkit. It supports what the Makefile and the lessons use, and no more:

    nvcc -ptx [-std=… -lineinfo -rdc=true -arch=compute_NN -I… ] [-MMD -MP -MF file -MT target] source.cu -o image.ptx
    nvcc -cubin -arch=sm_NN [the same] source.cu -o image.cubin
    nvcc --list-gpu-arch, nvcc --version
"""

import ctypes
import pathlib
import sys

PACKAGES = pathlib.Path(__file__).resolve().parent.parent.parent  # …/nvidia, with one folder per wheel
IGNORED = {"-ptx", "-cubin", "-MP", "-allow-unsupported-compiler", "-Wno-deprecated-gpu-targets"}
# The host's headers that kernels and <cuda.h> include. NVRTC has no host headers, and declares printf, assert and size_t itself.
INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long long"}
STDINT = "".join(f"typedef signed {name} int{bits}_t;\ntypedef unsigned {name} uint{bits}_t;\n" for bits, name in INTEGERS.items())
SIZE = "namespace std {\nusing ::size_t;\n}\n"
CSTDINT = "#pragma once\n#include <stdint.h>\nnamespace std {\n" + "".join(f"using ::int{bits}_t;\nusing ::uint{bits}_t;\n" for bits in INTEGERS) + "}\n"
HEADERS = {"cstdio": "", "cassert": "", "stdlib.h": SIZE, "cstddef": SIZE, "stdint.h": "#pragma once\n" + STDINT, "cstdint": CSTDINT}
WITH_VALUE = {"-ccbin": None, "-MF": None, "-MT": None, "-o": None}


def load():
    folder = PACKAGES / "cuda_nvrtc" / "lib"
    libraries = sorted(folder.glob("libnvrtc.so.*"))
    if not libraries:
        sys.exit(f"nvcc12.py finds no libnvrtc.so in {folder}: it works only in the folder that set-up makes")
    return ctypes.CDLL(str(libraries[0]))


def check(nvrtc, result, what):
    if result != 0:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        sys.exit(f"{what}: {nvrtc.nvrtcGetErrorString(result).decode()}")


def text(nvrtc, program, size_of, get):
    """A text that NVRTC returns: its log, or the PTX."""
    size = ctypes.c_size_t()
    check(nvrtc, size_of(program, ctypes.byref(size)), "NVRTC")
    buffer = ctypes.create_string_buffer(size.value)
    check(nvrtc, get(program, buffer), "NVRTC")
    return buffer.value.decode(errors="replace")


def compile_image(nvrtc, source, options, output):
    """Writes PTX, or machine code if the options name a real architecture (-arch=sm_NN)."""
    program = ctypes.c_void_p()
    content = pathlib.Path(source).read_bytes()
    names, texts = [name.encode() for name in HEADERS], [text.encode() for text in HEADERS.values()]
    lists = [(ctypes.c_char_p * len(HEADERS))(*each) for each in (texts, names)]
    check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), content, source.encode(), len(HEADERS), *lists), source)
    includes = [f"-I{folder}" for folder in sorted(PACKAGES.glob("*/include"))]
    words = [word.encode() for word in options + [f"-I{pathlib.Path(source).parent}"] + includes]
    result = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    log = text(nvrtc, program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
    # <cuda.h> declares host functions, which NVRTC accepts only with this option.
    if "-default-device" in log and "-default-device" not in options:
        compile_image(nvrtc, source, options + ["-default-device"], output)
        return
    for line in log.splitlines():
        if line and "Architectures prior to" not in line:
            print(line, file=sys.stderr)
    check(nvrtc, result, source)
    if any(option.startswith("-arch=sm_") for option in options):
        size = ctypes.c_size_t()
        check(nvrtc, nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "NVRTC")
        buffer = ctypes.create_string_buffer(size.value)
        check(nvrtc, nvrtc.nvrtcGetCUBIN(program, buffer), "NVRTC")
        pathlib.Path(output).write_bytes(buffer.raw)
        return
    ptx = text(nvrtc, program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    pathlib.Path(output).write_text(ptx, encoding="utf-8")


def main(words):
    nvrtc = load()
    if words == ["--version"]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        check(nvrtc, nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "nvrtcVersion")
        print(f"NVRTC in the place of nvcc, release {major.value}.{minor.value}")
        return
    if words == ["--list-gpu-arch"]:
        count = ctypes.c_int()
        check(nvrtc, nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)), "NVRTC")
        known = (ctypes.c_int * count.value)()
        check(nvrtc, nvrtc.nvrtcGetSupportedArchs(known), "NVRTC")
        print("\n".join(f"compute_{number}" for number in known))
        return
    options, values, source, dependencies = [], dict(WITH_VALUE), None, False
    while words:
        word = words.pop(0)
        if word in values:
            if not words:
                sys.exit(f"nvcc12.py: {word} needs a value after it")
            values[word] = words.pop(0)
        elif word == "-MMD":
            dependencies = True
        elif word == "-lineinfo":
            options.append("-lineinfo")
        elif word.startswith(("-arch=", "-std=", "-rdc=", "-I", "-D")):
            if word not in options:  # NVRTC rejects an option that is given twice
                options.append(word)
        elif word.endswith(".cu"):
            source = word
        elif word not in IGNORED:
            sys.exit(f"nvcc12.py does not know the option {word}")
    if not source or not values["-o"]:
        sys.exit("nvcc12.py: nvcc -ptx … source.cu -o image.ptx")
    compile_image(nvrtc, source, options, values["-o"])
    if dependencies:  # NVRTC does not report what was included: only the source is named
        file = pathlib.Path(values["-MF"] or pathlib.Path(values["-o"]).with_suffix(".d"))
        file.write_text(f"{values['-MT'] or values['-o']}: {source}\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as problem:  # the source cannot be read, or the image cannot be written
        sys.exit(f"nvcc12.py: {problem.filename}: {problem.strerror}")
