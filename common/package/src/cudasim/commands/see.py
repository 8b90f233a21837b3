"""Makes a film of a program's kernels: a web page that shows what each warp of a block does, step by step.

    cudasim see prog.cu arguments…                  the first block of each kernel, in prog.html
    cudasim see -o film.html ./prog arguments…      of a program that is compiled already
    cudasim see --only "kernel=sum launch=2 block=(1,0,0)" prog.cu

The page is one file, which needs no network. CUDASIM_FILM_ONLY in the simulator's documentation explains --only.
"""

from __future__ import annotations

import os
import pathlib
import tempfile

from cudasim import places
from cudasim.commands.program import own_options, ready
from cudasim.film import fitted, labelled, record
from cudasim.problem import Problem
from cudasim.running import environment, startable

OPTIONS = {"-o": "the name of an HTML file", "--output": "the name of an HTML file", "--only": "which kernel and block, such as kernel=sum"}


def main(words: list[str]) -> int:
    options, words = own_options(words, OPTIONS)
    with ready(words) as program, tempfile.TemporaryDirectory(prefix="cudasim-") as folder:
        command = startable(program)
        name = pathlib.Path(command[0]).stem
        films = labelled(record(command, environment(), pathlib.Path(folder, "film"), options.get("--only", ""), "--only"))
        page, told = fitted(name, films, pathlib.Path.cwd(), os.path.dirname(os.path.dirname(os.path.realpath(places.nvcc()))), "--only")
    out = pathlib.Path(options.get("-o") or options.get("--output") or f"{name}.html")
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as why:
        raise Problem(f"the film cannot be written to {out}: {why.strerror}") from None
    print(f"The film is in {out} ({len(page) // 1000} KB). Open it in a browser. {told}")
    return 0
