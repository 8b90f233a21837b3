# What a shared library or program says about itself in its dynamic section (System V ABI, ELF; Linux: 64-bit, little-endian).
from __future__ import annotations

import dataclasses
import struct
from typing import BinaryIO

# e_machine: the processors that NVIDIA's libraries exist for.
MACHINES = {3: "i686", 62: "x86_64", 183: "aarch64"}
LOAD, DYNAMIC = 1, 2  # p_type
NEEDED, STRTAB, SONAME, RPATH, RUNPATH = 1, 5, 14, 15, 29  # d_tag


@dataclasses.dataclass(frozen=True)
class Elf:
    machine: str
    soname: str = ""
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()  # DT_RPATH: searched before LD_LIBRARY_PATH
    runpath: tuple[str, ...] = ()  # DT_RUNPATH: searched after it


def read(path: str) -> Elf | None:
    """None if the file is no 64-bit ELF file (a linker script called libsomething.so, for example)."""
    try:
        with open(path, "rb") as file:
            return _read(file)
    except (OSError, struct.error, IndexError, ValueError):
        return None


def _read(file: BinaryIO) -> Elf | None:
    header = file.read(64)
    if header[:6] != b"\x7fELF\x02\x01":
        return None if header[:4] != b"\x7fELF" else Elf(MACHINES[3])
    machine = MACHINES.get(struct.unpack_from("<H", header, 18)[0], "another")
    segments = list(_segments(file, header))
    dynamic = [segment for segment in segments if segment[0] == DYNAMIC]
    if not dynamic:
        return Elf(machine)
    entries = list(_entries(_bytes(file, dynamic[0][1], dynamic[0][3])))
    strings = next(value for tag, value in entries if tag == STRTAB)
    start = next(offset + strings - address for kind, offset, address, size in segments if kind == LOAD and address <= strings < address + size)

    def texts(wanted: int) -> tuple[str, ...]:
        return tuple(_text(file, start + value) for tag, value in entries if tag == wanted)

    def folders(wanted: int) -> tuple[str, ...]:
        return tuple(folder for text in texts(wanted) for folder in text.split(":") if folder)

    return Elf(machine, "".join(texts(SONAME)[:1]), texts(NEEDED), folders(RPATH), folders(RUNPATH))


def _bytes(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def _segments(file: BinaryIO, header: bytes):
    """(p_type, offset in the file, address, size in the file) of each program header."""
    offset, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
    table = _bytes(file, offset, size * count)
    for number in range(count):
        kind, _flags, at, address, _physical, length = struct.unpack_from("<IIQQQQ", table, number * size)
        yield kind, at, address, length


def _entries(table: bytes):
    """(d_tag, d_val) up to the entry that ends the table."""
    for at in range(0, len(table), 16):
        tag, value = struct.unpack_from("<QQ", table, at)
        if tag == 0:
            return
        yield tag, value


def _text(file: BinaryIO, offset: int) -> str:
    return _bytes(file, offset, 4096).split(b"\0", 1)[0].decode(errors="replace")
