"""The magics of notebooks: %%cuda compiles and runs a cell, and %%cuda_see shows the film of its kernels.

%load_ext cudasim

%%cuda                                   a whole program, with main
%%cuda --check                           with all checks; --check race,init: with these
%%cuda --profile                         with a table of what each kernel executed
%%cuda --arguments "100 7"               with arguments for main
%%cuda --options "-O3 -Iinclude"         with options of nvcc
%%cuda --file sum.cuh                    only keeps the cell as a file, which later cells can include
%%cuda --with sum.cu                     compiles a kept file (or one in the notebook's folder) with the cell
%%cuda_see --only "kernel=sum block=1"   the film of this block
"""

from __future__ import annotations

import html
import os
import pathlib
import shlex
import sys
import tempfile
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from cudasim import compiling, places, running
from cudasim.film import fitted, labelled, record
from cudasim.problem import DoesNotCompile, Problem

HEIGHT = 720  # of a film, in pixels


def quoted(text: str) -> str:
    """IPython leaves the quotes around an option's value."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def shared_arguments(function: Any) -> Any:
    for each in (
        argument("--arguments", type=quoted, default="", help="the arguments of the program, in quotes if there are several"),
        argument("--options", type=quoted, default="", help="options of nvcc, in quotes"),
        argument("--with", dest="sources", action="append", default=[], help="another source: a kept file, or one in the notebook's folder"),
        argument("--seconds", type=float, default=300, help="how long the program may run"),
    ):
        function = each(function)
    return function


@magics_class
class Cuda(Magics):
    def __init__(self, shell: Any):
        super().__init__(shell)
        self.kept = tempfile.TemporaryDirectory(prefix="cudasim-")  # the files that cells have kept, until the kernel of the notebook ends
        self.folder = pathlib.Path(self.kept.name)

    @magic_arguments()
    @shared_arguments
    @argument("--check", nargs="?", const="all", default="", help="checks: all of them, or some, such as race,init")
    @argument("--profile", action="store_true", help="prints what each kernel executed")
    @argument("--file", default="", help="keeps the cell as a file of this name, and runs nothing")
    @cell_magic
    def cuda(self, line: str, cell: str) -> None:
        """Compiles a cell as a CUDA program, and runs it on the simulated GPU."""
        asked = parse_argstring(self.cuda, line)
        if asked.file:
            self.keep(asked.file, cell)
            return
        extra = {"CUDASIM_PROFILE": "1"} if asked.profile else {}
        try:
            program = self.compiled(cell, asked)
            result = running.run([program, *shlex.split(asked.arguments)], checks=asked.check, extra=extra, timeout=asked.seconds, cwd=os.getcwd())
        except Problem as why:
            raise UsageError(f"%%cuda: {why}") from None
        print(result.output, end="")
        print(result.errors, end="", file=sys.stderr)
        if asked.check and not result.findings:
            print("cudasim: the checks found nothing")
        if result.status == running.TIMED_OUT:
            print(f"cudasim: the program did not end within {asked.seconds:g} seconds. --seconds allows more", file=sys.stderr)
        elif result.status:
            print(f"cudasim: the program ended with status {result.status}", file=sys.stderr)

    @magic_arguments()
    @shared_arguments
    @argument("--only", type=quoted, default="", help="which kernel and block: 'kernel=sum launch=2 block=(1,0,0)'")
    @argument("--height", type=int, default=HEIGHT, help="the film's height in pixels")
    @cell_magic
    def cuda_see(self, line: str, cell: str) -> None:
        """Compiles a cell as a CUDA program, and shows the film of its kernels: what each warp of a block does, step by step."""
        asked = parse_argstring(self.cuda_see, line)
        try:
            program = self.compiled(cell, asked)
            command = [str(program), *shlex.split(asked.arguments)]
            films = labelled(record(command, running.environment(), self.folder / "film", asked.only, "--only"))
            toolkit = os.path.dirname(os.path.dirname(os.path.realpath(places.nvcc())))
            page, told = fitted("cell", films, self.folder, toolkit, "--only")
        except Problem as why:
            raise UsageError(f"%%cuda_see: {why}") from None
        frame = f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: {asked.height}px; border: 0"></iframe>'
        display({"text/html": frame, "text/plain": told}, raw=True)

    def keep(self, name: str, cell: str) -> None:
        path = self.folder / name
        if self.folder.resolve() not in path.resolve().parents:
            raise UsageError(f"%%cuda: --file is a name such as sum.cuh, not {name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(cell, encoding="utf-8")
        print(f"kept as {name}")

    def source(self, name: str) -> pathlib.Path:
        for folder in (self.folder, pathlib.Path.cwd()):
            if (folder / name).is_file():
                return folder / name
        raise Problem(f"no cell has kept a file {name} with --file, and there is none in {pathlib.Path.cwd()}")

    def compiled(self, cell: str, asked: Any) -> pathlib.Path:
        # The line of the magic is the cell's first, so that messages count lines as the notebook does.
        cell_file = self.folder / "cell.cu"
        cell_file.write_text("// %%cuda\n" + cell, encoding="utf-8")
        program = self.folder / "cell"
        sources = [str(self.source(name)) for name in asked.sources]
        folders = [f"-I{self.folder}", f"-I{pathlib.Path.cwd()}"]
        try:
            compiling.compile([*shlex.split(asked.options), *folders, *sources, str(cell_file)], program, quiet=True)
        except DoesNotCompile as why:
            print(why.errors.replace(f"{self.folder}/", ""), end="", file=sys.stderr)
            raise
        return program


def load(shell: Any) -> None:
    shell.register_magics(Cuda)
