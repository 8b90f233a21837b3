"""The findings, as text of at most 100 columns and as JSON."""

from __future__ import annotations

import dataclasses
import os
import textwrap
from collections.abc import Sequence
from typing import Any

from course.setup import as_text

from . import verdicts
from .findings import Findings, system
from .libraries import Library

WIDTH = 100
Row = tuple[str, str]  # (label, text)


def as_json(found: Findings, judged: list[verdicts.Verdict]) -> dict[str, Any]:
    driver = dataclasses.asdict(found.driver)
    return {
        "status": verdicts.exit_status(found, judged),
        "system": system(found.machine),
        "driver": driver,
        "toolkits": [dataclasses.asdict(toolkit) for toolkit in found.toolkits],
        "compiler": dataclasses.asdict(found.compiler),
        "python": {"version": found.python.version, "path": found.python.path, "conda": found.python.conda},
        "torch": dataclasses.asdict(found.torch) if found.torch else None,
        "libraries": [{**dataclasses.asdict(library), "purpose": library.purpose} for library in found.libraries],
        "comparisons": [{"what": what, "verdict": verdict} for what, verdict in verdicts.compare(found)],
        "tasks": [dataclasses.asdict(verdict) for verdict in judged],
    }


def as_text_lines(found: Findings, judged: list[verdicts.Verdict], more_rows: Sequence[Row] = ()) -> list[str]:
    lines = ["This machine"]
    for label, text in [*machine_rows(found), *more_rows]:
        lines += wrapped(f"  {label:<12} ", text)
    lines += ["", "NVIDIA's libraries here   (P: an ordinary program gets this one; T: PyTorch does)"] + library_lines(found)
    compared = verdicts.compare(found)
    lines += ["", "What fits together"] if compared else []
    for what, result in compared:
        lines += wrapped("  ", f"{what}: {result}", "    ")
    lines += ["", "Nine tasks"]
    for verdict in judged:
        lines += task_lines(verdict)
    return lines


def wrapped(first: str, text: str, rest: str = "") -> list[str]:
    indent = rest or " " * len(first)
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def machine_rows(found: Findings) -> list[Row]:
    rows = [("system", system(found.machine) + (", in a container" if found.driver.container else ""))]
    rows += driver_rows(found)
    for toolkit in found.toolkits:
        rows.append(("toolkit", f"CUDA {toolkit.version} in {toolkit.root} ({', '.join(toolkit.why)}): {toolkit.contents()}"))
    if not found.toolkits:
        rows.append(("toolkit", "none"))
    rows.append(("compiler", found.compiler.says or f"no {found.compiler.command}"))
    rows.append(("python", f"{found.python.version} ({found.python.path})" if found.python.path else "none"))
    rows += [("conda", prefix) for prefix in found.python.conda]
    torch = found.torch
    built = f"built for {'CUDA ' + torch.cuda if torch.cuda else 'the CPU'}" if torch else ""
    rows.append(("PyTorch", f"{torch.version}, {built}, in {torch.folder}" if torch else "none"))
    return rows


def driver_rows(found: Findings) -> list[Row]:
    driver = found.driver
    nodes = f", {', '.join(driver.nodes)}" if driver.nodes else ", no device files" if driver.module else ""
    kernel = f"module nvidia {driver.module}{nodes}" if driver.module else "no module nvidia" + (", but nouveau is loaded" if driver.nouveau else "")
    rows = [("kernel side", kernel + (f"; GPU at {', '.join(driver.pci)}" if driver.pci else ""))]
    if not driver.library:
        return rows + [("libcuda", "none in the folders that the loader searches")]
    rows.append(("libcuda", f"{found.machine.real(driver.library.path)} (found by {driver.library.why})"))
    if driver.unloadable:
        return rows + [("driver", driver.unloadable)]
    supports = f"supports CUDA {as_text(driver.version)}; " if driver.version else ""
    rows.append(("driver", f"{supports}cuInit returns {driver.result} {driver.error}".rstrip()))
    return rows + [("GPU", device) for device in driver.devices] + [("JIT cache", jit_cache(found))]


def jit_cache(found: Findings) -> str:
    """Where the driver keeps what it has compiled, and whether it can (lesson 01-09)."""
    machine = found.machine
    if machine.variable("CUDA_CACHE_DISABLE") == "1":
        return "disabled by CUDA_CACHE_DISABLE: PTX is compiled at every start"
    home = machine.variable("HOME")
    folder = machine.variable("CUDA_CACHE_PATH") or (f"{home}/.nv/ComputeCache" if home else "")
    if not folder:
        return "none, because HOME and CUDA_CACHE_PATH are not set: PTX is compiled at every start"
    there = folder
    while not machine.exists(there):
        there = os.path.dirname(there)
    if machine.may_use(there) and machine.is_folder(there):
        return folder
    return f"{folder}, which cannot be written: PTX is compiled at every start"


def library_lines(found: Findings) -> list[str]:
    """One block per folder."""
    lines: list[str] = []
    blocks: dict[tuple[str, str], list[Library]] = {}
    for library in found.libraries:
        blocks.setdefault((os.path.dirname(library.path), library.origin.split(":")[0]), []).append(library)
    for (folder, origin), libraries in blocks.items():
        why = sorted({library.for_programs for library in libraries if library.for_programs})
        lines += wrapped("  ", f"{folder}   {origin}" + (f", found by {' and '.join(why)}" if why else ""), "    ")
        lines += [library_line(library) for library in libraries if not library.stub]
        stubs = [f"lib{library.name}" for library in libraries if library.stub]
        if stubs:
            names = ", ".join(stubs[:3] + ["…"] * bool(stubs[3:]))
            lines.append(f"       stubs for the linker, which must never be loaded ({len(stubs)}): {names}")
    return lines or ["  none"]


def library_line(library: Library) -> str:
    who = ("P" if library.for_programs else " ") + ("T" if library.for_torch else " ")
    version = "leads nowhere" if library.dangling else library.version
    row = f"    {who} {'lib' + library.name:<33} {version:<13} {library.purpose}"
    return row if len(row) <= WIDTH else row[: WIDTH - 1] + "…"


def task_lines(verdict: verdicts.Verdict) -> list[str]:
    lines = [f"  {verdict.state:<8} {verdict.task}"]
    if verdict.reason:
        lines += wrapped(" " * 11, verdict.reason)
    if verdict.remedy:
        lines += wrapped(" " * 11 + "type: ", verdict.remedy)
    return lines
