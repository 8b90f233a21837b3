#!/usr/bin/env python3
"""An `nvcc` made from NVRTC, NVIDIA's run-time compiler. It supports what the Makefile and the lessons use, and no more:

    nvcc -ptx [-std=… -lineinfo -rdc=true -arch=compute_NN -I… ] [-MMD -MP -MF file -MT target] source.cu -o image.ptx
    nvcc -cubin -arch=sm_NN [the same] source.cu -o image.cubin
    nvcc --list-gpu-arch, nvcc --version

It has two uses. The Python wheels of CUDA 12 contain NVRTC, but no nvcc, so set-up copies this file to bin/nvcc of the private toolkit of CUDA 12.
With another toolkit, `make test` compiles kernels for wrong solutions and edited copies with it, because it takes a fifth of nvcc's time:

    nvcc_by_nvrtc.py --toolkit=build/toolkit -ptx …
"""

import ctypes
import pathlib
import re
import sys

WHEELS = pathlib.Path(__file__).resolve().parent.parent.parent  # of CUDA 12: …/nvidia, with one folder per wheel
IGNORED = {"-ptx", "-cubin", "-MP", "-allow-unsupported-compiler", "-Wno-deprecated-gpu-targets"}
# The host's headers that kernels and <cuda.h> include. NVRTC has no host headers, and declares printf, assert and size_t itself.
INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long long"}
STDINT = "".join(f"typedef signed {name} int{bits}_t;\ntypedef unsigned {name} uint{bits}_t;\n" for bits, name in INTEGERS.items())
SIZE = "namespace std {\nusing ::size_t;\n}\n"
CSTDINT = "#pragma once\n#include <stdint.h>\nnamespace std {\n" + "".join(f"using ::int{bits}_t;\nusing ::uint{bits}_t;\n" for bits in INTEGERS) + "}\n"
# What every kernel can use, because nvcc includes cuda_runtime.h first.
RUNTIME = f"{SIZE}#define INFINITY __int_as_float(0x7f800000)\n"
HEADERS = {"cstdio": "", "cassert": "", "stdlib.h": SIZE, "cstddef": SIZE, "stdint.h": "#pragma once\n" + STDINT, "cstdint": CSTDINT, "runtime": RUNTIME}
WITH_VALUE = {"-ccbin": None, "-MF": None, "-MT": None, "-o": None}


def load(toolkit):
    folders = [toolkit / "lib64", toolkit / "lib"] if toolkit else [WHEELS / "cuda_nvrtc" / "lib"]
    libraries = sorted(library for folder in folders for library in folder.glob("libnvrtc.so.*"))
    if not libraries:
        sys.exit(f"nvcc_by_nvrtc.py finds no libnvrtc.so in {folders[0]}: it works in the folder that set-up makes, or with --toolkit")
    return ctypes.CDLL(str(libraries[0].resolve()))


def include_folders(toolkit):
    return [toolkit / "include", toolkit / "include" / "cccl"] if toolkit else sorted(WHEELS.glob("*/include"))


def included_by(source, folders):
    """The source, and the files that it includes in quotation marks, directly or through others. NVRTC does not report them."""
    found = [pathlib.Path(source)]
    for file in found:  # it grows
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', file.read_text(encoding="utf-8", errors="replace"), re.MULTILINE):
            places = [folder / name for folder in (file.parent, *folders)]
            found += [place for place in places if place.is_file() and place not in found][:1]
    return [str(file) for file in found]


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


def compile_image(nvrtc, source, options, includes, output):
    """Writes PTX, or machine code if the options name a real architecture (-arch=sm_NN)."""
    program = ctypes.c_void_p()
    content = pathlib.Path(source).read_bytes()
    names, texts = [name.encode() for name in HEADERS], [text.encode() for text in HEADERS.values()]
    lists = [(ctypes.c_char_p * len(HEADERS))(*each) for each in (texts, names)]
    check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), content, source.encode(), len(HEADERS), *lists), source)
    words = [word.encode() for word in options + ["--pre-include=runtime"] + [f"-I{folder}" for folder in (pathlib.Path(source).parent, *includes)]]
    result = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    log = text(nvrtc, program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
    # <cuda.h> declares host functions, which NVRTC accepts only with this option.
    if "-default-device" in log and "-default-device" not in options:
        compile_image(nvrtc, source, options + ["-default-device"], includes, output)
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
    toolkit = next((pathlib.Path(word.partition("=")[2]) for word in words if word.startswith("--toolkit=")), None)
    words = [word for word in words if not word.startswith("--toolkit=")]
    nvrtc = load(toolkit)
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
                sys.exit(f"nvcc_by_nvrtc.py: {word} needs a value after it")
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
            sys.exit(f"nvcc_by_nvrtc.py does not know the option {word}")
    if not source or not values["-o"]:
        sys.exit("nvcc_by_nvrtc.py: nvcc -ptx … source.cu -o image.ptx")
    compile_image(nvrtc, source, options, include_folders(toolkit), values["-o"])
    if dependencies:
        files = included_by(source, [pathlib.Path(option[2:]) for option in options if option.startswith("-I")])
        file = pathlib.Path(values["-MF"] or pathlib.Path(values["-o"]).with_suffix(".d"))
        rules = [f"{values['-MT'] or values['-o']}: {' '.join(files)}", *(f"{included}:" for included in files[1:])]
        file.write_text("\n".join(rules) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as problem:  # the source cannot be read, or the image cannot be written
        sys.exit(f"nvcc_by_nvrtc.py: {problem.filename}: {problem.strerror}")
