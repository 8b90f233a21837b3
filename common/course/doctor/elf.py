"""What a shared library or program says about itself in its header and in its dynamic section."""

from __future__ import annotations

import dataclasses

try:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
except ImportError:  # the environment was not made yet: only the processor is read
    ELFError, ELFFile = ValueError, None
CAN_READ_LIBRARIES = ELFFile is not None

# e_machine: the processors that NVIDIA's libraries exist for.
MACHINES = {3: "i686", 62: "x86_64", 183: "aarch64"}


@dataclasses.dataclass(frozen=True)
class Elf:
    machine: str
    soname: str = ""
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()  # DT_RPATH: searched before LD_LIBRARY_PATH
    runpath: tuple[str, ...] = ()  # DT_RUNPATH: searched after it


def read(path: str) -> Elf | None:
    """None if the file is not an ELF file (a linker script called libsomething.so, for example)."""
    try:
        with open(path, "rb") as file:
            header = file.read(20)
            if header[:4] != b"\x7fELF":
                return None
            machine = MACHINES.get(int.from_bytes(header[18:20], "little"), "another")
            dynamic = next(ELFFile(file).iter_segments("PT_DYNAMIC"), None) if ELFFile else None
            tags = list(dynamic.iter_tags()) if dynamic else []
    except (OSError, ELFError, ValueError):
        return None

    def texts(kind: str) -> tuple[str, ...]:
        return tuple(getattr(tag, kind) for tag in tags if tag.entry.d_tag == f"DT_{kind.upper()}")

    def folders(kind: str) -> tuple[str, ...]:
        return tuple(folder for text in texts(kind) for folder in text.split(":") if folder)

    return Elf(machine, "".join(texts("soname")[:1]), texts("needed"), folders("rpath"), folders("runpath"))
