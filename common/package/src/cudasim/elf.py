"""What a compiled program is: which processor it is for, which libraries it loads, and which sections it has."""

from __future__ import annotations

import dataclasses
import pathlib
import struct

MACHINES = {3: "i386", 8: "MIPS", 21: "ppc64", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64", 258: "loongarch64"}
DYNAMIC, NEEDED = 6, 1  # the type of the section .dynamic, and the tag of a library in it


@dataclasses.dataclass(frozen=True)
class Program:
    machine: str
    libraries: list[str]
    sections: list[str]


def read(path: str) -> Program | None:
    """None if the file is no ELF file, such as a script, or a damaged one."""
    try:
        data = pathlib.Path(path).read_bytes()
        return _read(data) if data[:4] == b"\x7fELF" else None
    except (OSError, struct.error, IndexError, ValueError):
        return None


def _read(data: bytes) -> Program:
    is_64, order = data[4] == 2, "<" if data[5] == 1 else ">"
    (number,) = struct.unpack_from(f"{order}H", data, 18)
    machine = MACHINES.get(number, f"processor type {number}")
    if not is_64:
        return Program(f"{machine} (32 bits)" if machine in ("x86_64", "aarch64") else machine, [], [])
    (table,) = struct.unpack_from(f"{order}Q", data, 40)
    size, count, names = struct.unpack_from(f"{order}HHH", data, 58)
    # A row for each section: the place of its name, its type, flags, address, offset in the file, size, and the section that it refers to.
    rows = [struct.unpack_from(f"{order}IIQQQQI", data, table + i * size) for i in range(count)]
    text = lambda section, place: data[section[4] + place : data.index(b"\0", section[4] + place)].decode("utf-8", "replace")
    libraries = []
    for row in rows:
        if row[1] == DYNAMIC:
            tags = struct.iter_unpack(f"{order}QQ", data[row[4] : row[4] + row[5] // 16 * 16])
            libraries += [text(rows[row[6]], value) for tag, value in tags if tag == NEEDED]
    return Program(machine, libraries, [text(rows[names], row[0]) for row in rows] if rows else [])
