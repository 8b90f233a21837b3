"""cudasim verify finds the faults of faulty.cu, and none in sound.cu."""

import functools
import json
import os
import pathlib
import re
import sys

import pytest

np = pytest.importorskip("numpy")

from cudasim.__main__ import call
from cudasim.problem import DoesNotCompile, Problem
from cudasim.verify import InOut, load, verify
from cudasim.verify.cases import Case, cases
from cudasim.verify.dtypes import Type
from cudasim.verify.memory import Layout
from cudasim.verify.worker import SETTINGS, Worker
from pages import blocks, commands

FOLDER = pathlib.Path(__file__).parent / "verify"
# What is found of each kernel of faulty.cu, and in which case or at which line: words of the source, or of the table.
FAULTS = {
    "scale": ("illegal address", "no bounds test"),
    "reverse_blocks": ("data race", "no barrier before"),
    "sum_blocks": ("use of memory never written", "parts[t] += parts[t + half]"),
    "dot": ("wrong result", "out[0]"),
    "transpose": ("illegal address", "a row of y has `rows` elements"),
    "copy_rows": ("illegal address", "may not fit into an int"),
    "row_maximum": ("NaN is lost", "expected nan"),
    "add_to_total": ("wrong result", "total[0]"),
    "relu": ("misaligned address", "float4"),
    "softmax": ("wrong result", "y[0, 0] is nan"),
}


@functools.cache
def kernels(file):
    sys.path.insert(0, str(FOLDER))
    return {kernel.name: kernel for kernel in load(FOLDER / file)}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name):
    report = verify(kernels("faulty.py")[name])
    what, where = FAULTS[name]
    lines = (FOLDER / "faulty.cu").read_text().splitlines()
    places = [row[1] + " ".join(lines[int(line) - 1] for line in re.findall(r"faulty\.cu:(\d+)", row[1])) for row in report.rows() if row[0] == what]
    assert any(where in place for place in places), str(report)


@pytest.mark.parametrize("name", FAULTS)
def test_a_sound_kernel_passes(name):
    report = verify(kernels("sound.py")[name])
    assert report.is_clean and report.ran > 10 and not report.skipped, str(report)


def test_an_overflow_of_an_index_needs_the_distant_layout():
    report = verify(kernels("faulty.py")["copy_rows"])
    assert {failure.case.layout for failure in report.failures} == {"distant"}


def test_the_command_prints_a_table_and_writes_json(tmp_path, capsys):
    assert call(["verify", "--report", str(tmp_path / "found.json"), str(FOLDER / "faulty.py"), "row_maximum"]) == 1
    assert "row_maximum: 1 of" in (said := capsys.readouterr().out) and "smallest case" in said
    (found,) = json.loads((tmp_path / "found.json").read_text())
    assert found["kernel"] == "row_maximum" and found["failures"][0]["what"] == "NaN is lost"


def test_the_example_of_the_page_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (source,), (declaration, *_) = blocks("verify.md", "cuda"), blocks("verify.md", "python")
    with_barrier = source.replace("  parts[threadIdx.x] = most;\n", "  parts[threadIdx.x] = most;\n  __syncthreads();\n")
    without_nan = declaration.replace("block=64,", 'block=64, without=("nan",),')
    versions = [(source, declaration), (with_barrier, declaration), (with_barrier, without_nan)]
    for (text, declared_as), (command, output) in zip(versions, commands("verify.md"), strict=True):
        pathlib.Path("rows.cu").write_text(text)
        pathlib.Path("kernels.py").write_text(declared_as)
        assert call(command.removeprefix("cudasim ").split()) == (0 if declared_as is without_nan else 1)
        assert capsys.readouterr().out == output


def declared(tmp_path, declaration, kernel='extern "C" __global__ void fill(int* y, int n) {}'):
    (tmp_path / "fill.cu").write_text(kernel)
    file = tmp_path / "fill.py"
    file.write_text("from cudasim.verify import *\n" + declaration)
    return load(file)[0]


FILL = '@kernel("fill.cu", block=32, grid="n"{})\ndef fill({}): return {}\n'


@pytest.mark.parametrize(
    "settings, parameters, result, kernel, why",
    [
        ("", 'y: Out("int32", "n"), n: Size', "y", "", "has no kernel"),
        ("", 'y: Out("int32", "n")', "y", None, r"has 2 parameters, but the reference fill declares 1"),
        ("", 'y: Out("int33", "n"), n: Size', "y", None, "there is no element type 'int33'"),
        ("", 'y: Out("int32", "n"), n: int', "y", None, "'n' is annotated with none of In, Out"),
        ("", 'y: In("int32", "n"), n: Size', "y", None, "no result to compare"),
        ("", 'y: Out("int32", "n"), n: Size', "y[1:]", None, r"the reference returns \(\d+,\) for y"),
        ("", 'y: Out("int32", "n"), n: Size', "y / 0 + m", None, "the reference fails for n=1: NameError"),
        ("", 'y: Out("int32", "n"), n: Scalar("float64", 1)', "y", None, "declared as Scalar with 8 bytes, but the kernel's parameter has 4"),
        (", when=lambda n: n < 0", 'y: Out("int32", "n"), n: Size', "y", None, "`when` excludes all of them"),
        (", when=lambda m: m < 0", 'y: Out("int32", "n"), n: Size', "y", None, "takes 'm', which is no size"),
        (", without=('nun',)", 'y: Out("int32", "n"), n: Size', "y", None, "there are no cases 'nun' to leave out"),
        (", sizes={'m': [1]}", 'y: Out("int32", "n"), n: Size', "y", None, "sizes names 'm'"),
        (", speed=9", 'y: Out("int32", "n"), n: Size', "y", None, "has no setting 'speed'"),
        (", shared=1 << 20", 'y: Out("int32", "n"), n: Size', "y", None, "cuFuncSetAttribute returned CUDA_ERROR_INVALID_VALUE"),
    ],
)
def test_a_declaration_that_cannot_be_right_gets_a_sentence(tmp_path, settings, parameters, result, kernel, why):
    source = {"kernel": kernel} if kernel is not None else {}
    try:
        said = str(verify(declared(tmp_path, FILL.format(settings, parameters, result), **source)))
    except Problem as problem:
        said = str(problem)
    assert re.search(why, said), said


def test_a_kernel_that_does_not_compile_shows_the_compilers_message(tmp_path):
    with pytest.raises(DoesNotCompile) as why:
        verify(declared(tmp_path, FILL.format("", 'y: Out("int32", "n"), n: Size', "y"), kernel="__global__ void fill(int* y, int n) { y = m; }"))
    assert '"m" is undefined' in why.value.errors


def test_an_element_that_the_kernel_leaves_out_is_named(tmp_path):
    half = 'extern "C" __global__ void fill(int* y, int n) { if (2 * threadIdx.x < n && blockIdx.x == 0) y[threadIdx.x * 2] = 0; }'
    report = verify(declared(tmp_path, FILL.format("", 'y: Out("int32", "n"), n: Size', "0 * y"), half))
    assert [row[:2] for row in report.rows()] == [("not written", "y[1] (1 of 3 elements)")], str(report)


def test_a_kernel_that_does_not_end_fails_its_case_alone(tmp_path, monkeypatch):
    monkeypatch.setitem(SETTINGS, "CUDASIM_BUDGET", "100000")
    endless = 'extern "C" __global__ void fill(int* y, int n) { while (n == 33) {} int i = blockIdx.x * 32 + threadIdx.x; if (i < n) y[i] = 0; }'
    report = verify(declared(tmp_path, FILL.format("", 'y: Out("int32", "n"), n: Size', "0 * y"), endless))
    assert {(row[0], row[4]) for row in report.rows()} == {("the kernel does not end", "n=33")} and report.ran == 10


def test_a_crash_ends_one_case(monkeypatch):
    place = Worker.place

    def crash(self, array, prepared):
        return os.abort() if prepared.case.sizes == {"n": 3} else place(self, array, prepared)

    monkeypatch.setattr(Worker, "place", crash)
    report = verify(kernels("sound.py")["scale"])
    assert [row[0] for row in report.rows()] == ["the process crashed: SIGABRT (Aborted)"] and report.ran > 20


def test_the_rows_of_a_strided_array_are_apart():
    layout = Layout((2, 3), (5, 1), 4, 0)
    assert layout.runs() == [(0, 0, 3), (20, 3, 3)] and layout.gaps() == [(12, 8)] and layout.total == 32


def test_sizes_that_the_kernel_does_not_promise_are_left_out(tmp_path):
    kernel = declared(tmp_path, FILL.format(", when=lambda n: n % 4 == 0 and n > 0", 'y: InOut("int32", "n"), n: Size', "y"))
    assert {case.sizes["n"] % 4 for case in cases(kernel)} == {0} and Case({"n": 4}) in cases(kernel) and isinstance(kernel.outputs[0], InOut)


def test_cases_that_the_declaration_does_not_want_are_left_out(tmp_path):
    parameters = 'x: In("float32", "n"), y: Out("float32", "n"), n: Size'
    every, kept = (set(map(str, cases(declared(tmp_path, FILL.format(setting, parameters, "x"))))) for setting in ("", ", without=('nan', 'unaligned')"))
    assert every - kept == {"n=103, nan", "n=103, unaligned", "n=103, x unaligned", "n=103, y unaligned"} and not kept - every


def test_bfloat16_rounds_to_the_nearest_even():
    kind = Type("bfloat16")
    assert kind.store(np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, np.inf, 3.4e38])).tolist() == [0x3F80, 0x3F80, 0x3F82, 0x7F80, 0x7F80]
    assert np.isnan(kind.load(kind.store(np.array([np.nan])))).all()


def test_triton_functions_are_verified_with_references_in_pytorch():
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    pair = kernels("triton_pair.py")
    assert verify(pair["add"]).is_clean
    report = verify(pair["add_unmasked"])
    assert report.rows()[0][:2] == ("illegal address", "triton_pair.py:21"), str(report)
