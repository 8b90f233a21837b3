"""The magics of notebooks, and the notebook of lesson 04-03."""

import pathlib
import re
import shutil

import pytest

pytest.importorskip("nbclient")

import nbclient
import nbformat
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import AsyncKernelManager

import cudasim
from cudasim import notebook
from pages import PACKAGE, blocks

LESSON = pathlib.Path(__file__).resolve().parents[2] / "04-kernels/03-vector-add/lesson.ipynb"
SECONDS = 120  # for a cell


def shown(cell):
    """What a cell printed, and the text of what it displayed. Lines of the PTX depend on the compiler."""
    texts = [output["text"] if output.output_type == "stream" else output["data"]["text/plain"] for output in cell.outputs]
    return [re.sub(r"line \d+ of the PTX", "line N of the PTX", text) for text in texts]


def test_the_notebook_of_a_lesson_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE / "src"), prepend=":")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.delenv("CUDASIM_QUIET", raising=False)
    stored = nbformat.read(LESSON, 4)
    ran = nbformat.read(LESSON, 4)
    kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(tmp_path / "kernel"))
    nbclient.NotebookClient(ran, timeout=SECONDS, km=kernel, resources={"metadata": {"path": str(LESSON.parent)}}).execute()
    code = [(before, after) for before, after in zip(stored.cells, ran.cells) if after.cell_type == "code"]
    for before, after in code:
        assert shown(after) == shown(before)
    film = code[-1][1].outputs[0]["data"]["text/html"]
    assert film.startswith('<iframe srcdoc="') and "&lt;script" in film


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    shell = InteractiveShell()
    cudasim.load_ipython_extension(shell)
    return shell


SUM = "#include <cstdio>\n#include <cstdlib>\n"


def test_a_cell_is_compiled_with_the_files_that_others_kept(shell, capsys):
    shell.run_cell_magic("cuda", "--file half.cuh", "__device__ int half(int x) { return x / 2; }\n")
    shell.run_cell_magic("cuda", "--file halves.cu", '#include "half.cuh"\n__global__ void halves(int* x) { x[0] = half(x[0]); }\n')
    main = (
        f"{SUM}__global__ void halves(int* x);\nint main(int n, char** a) {{\n  int* x = nullptr;\n  cudaMallocManaged(&x, 4);\n  *x = std::atoi(a[1]) + N;\n"
        '  halves<<<1, 1>>>(x);\n  cudaDeviceSynchronize();\n  std::printf("half: %d\\n", *x);\n  return 3;\n}\n'
    )
    shell.run_cell_magic("cuda", '--with halves.cu --arguments "40 x" --options "-DN=2 -rdc=true" --check leak --profile', main)
    said = capsys.readouterr()
    assert "kept as half.cuh\nkept as halves.cu\nhalf: 21\n" in said.out
    assert "not released" in said.err
    assert "profile" in said.err and "halves" in said.err and "the program ended with status 3" in said.err


def test_the_cell_of_the_page_prints_what_the_page_shows(shell, capsys):
    (text,), (output,) = blocks("notebooks.md", "cuda"), blocks("notebooks.md", "text")
    first, cell = text.split("\n", 1)
    shell.run_cell_magic("cuda", first.removeprefix("%%cuda "), cell)
    assert capsys.readouterr().out == output


@pytest.mark.parametrize(
    "magic, line, cell, why, printed",
    [
        ("cuda", "", "int main() { return x; }\n", "nvcc could not compile the program", 'cell.cu(2): error: identifier "x" is undefined'),
        ("cuda", "--with missing.cu", "int main() {}\n", "no cell has kept a file missing.cu", ""),
        ("cuda", "--file ../outside.cu", "int x;\n", "--file is a name such as sum.cuh, not ../outside.cu", ""),
        ("cuda", "--speed 9", "int main() {}\n", "unrecognized arguments: --speed 9", ""),
    ],
)
def test_what_goes_wrong_is_a_sentence(shell, capsys, magic, line, cell, why, printed):
    with pytest.raises(UsageError, match=re.escape(why)):
        shell.run_cell_magic(magic, line, cell)
    assert printed in capsys.readouterr().err


def test_a_program_that_does_not_end_is_stopped(shell, capsys, monkeypatch):
    monkeypatch.setattr(notebook.Cuda, "compiled", lambda *_: shutil.which("sleep"))
    shell.run_cell_magic("cuda", "--seconds 0.3 --arguments 9", "int main() {}\n")
    assert "the program did not end within 0.3 seconds" in capsys.readouterr().err


def test_a_film_needs_a_kernel(shell, monkeypatch):
    monkeypatch.setattr(notebook.Cuda, "compiled", lambda *_: shutil.which("true"))
    with pytest.raises(UsageError, match="launched no kernel to show"):
        shell.run_cell_magic("cuda_see", "", "int main() {}\n")
