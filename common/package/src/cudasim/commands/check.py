"""Runs a CUDA program with all checks of the simulated GPU: accesses out of bounds, data races, uninitialized memory, barriers and leaks.

    cudasim check prog.cu arguments…              compiles prog.cu, and checks it
    cudasim check ./prog arguments…               checks a program that is compiled already
    cudasim check --report findings.json ./prog   also writes the findings to a file of JSON
    cudasim check --only race,init ./prog         runs only these checks: memory, race, init, sync, leak

The status is the program's own, or 1 if the program ended with 0 and there are findings.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys

from cudasim.commands.program import crashed, own_options, ready, tell_crash
from cudasim.problem import Problem
from cudasim.running import run

OPTIONS = {"--report": "the name of a JSON file", "--only": "checks, such as race,init"}


def main(words: list[str]) -> int:
    options, words = own_options(words, OPTIONS)
    with ready(words) as command:
        result = dataclasses.replace(run(command, checks=options.get("--only", "all"), show=True), command=words)
    if file := options.get("--report"):
        try:
            pathlib.Path(file).write_text(json.dumps(result.as_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as why:
            raise Problem(f"the report cannot be written to {file}: {why.strerror}") from None
    tell_crash(command, result.status)
    if result.findings:
        print(f"cudasim: {len(result.findings)} finding{'s' if len(result.findings) > 1 else ''}", file=sys.stderr)
    else:
        print(f"cudasim: the checks found nothing{' before the crash' if crashed(result.status) else ''}", file=sys.stderr)
    return result.status or (1 if result.findings else 0)
