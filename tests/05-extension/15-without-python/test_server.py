"""The lesson's server: what it makes of requests that are not in order, and of missing files."""

import subprocess
from collections.abc import Iterator

import pytest

from common.built import built
from main import FACTS, HERE, LIBRARY, Server, request, verdict


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


def test_a_request_that_cannot_be_read_gets_an_error_and_the_next_one_a_result(server: Server) -> None:
    for line in "run", "run 2", "run -1 4", "run 1 4 1 2 3", "run 1 4 1 2 x 4", "run 99999999999 99999999999", "time 1 4 0", "dance", "":
        assert server.ask(line).startswith("error: "), line
    assert verdict(server.ask(request("run", FACTS["x"][:2])), FACTS["y"][:2]) == "as in Python"


def test_a_batch_without_rows_has_a_result_without_rows(server: Server) -> None:
    assert server.ask("run 0 4") == "0 3"


def test_a_graph_needs_a_model_on_a_gpu_and_computes_with_the_new_input(server: Server) -> None:
    assert server.ask("replay 1 4 1 2 3 4") == "error: a CUDA graph needs a model on a GPU"
    if (HERE / "model.cuda.pt2").exists():
        with Server(device="cuda") as on_gpu:
            for rows in 1, 3, 64:
                asked, expected = FACTS["x"][:rows], FACTS["y"][:rows]
                assert verdict(on_gpu.ask(request("run", asked)), expected) == "as in Python"
                assert verdict(on_gpu.ask(request("replay", asked)), expected) == "as in Python"


def test_an_op_that_another_library_registers_is_unknown(server: Server) -> None:
    assert server.ask("op made::in_python").startswith("error: Could not find schema")
    assert "made::in_python" in FACTS["ops"], "Python knows it"


@pytest.mark.parametrize(
    ("library", "package", "message"),
    [("nowhere.so", HERE / "model.cpu.pt2", "serve: nowhere.so: cannot open"), (LIBRARY, "nowhere.pt2", "serve: cannot read nowhere.pt2")],
)
def test_a_missing_file_is_named(library: str, package: str, message: str) -> None:
    ended = subprocess.run([built(str(HERE / "main.py"), "serve"), library, package, "cpu"], input="", capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and ended.stderr.startswith(message)
