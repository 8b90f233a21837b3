"""Judges the learner's answer(): it is called with the real package, in a process of its own."""

import pathlib
import subprocess
import sys

import pytest

from common.built import built

LESSONS = pathlib.Path(__file__).parents[3] / "05-extension"
Outcome = tuple[int, int, list[str]]  # calls of the model, rows of the largest one, and what came of each request


@pytest.fixture(scope="session")
def outcomes(answer: str) -> dict[str, Outcome]:
    op = pathlib.Path(built(str(LESSONS / "05-canonical-op" / "main.py"), "installed"))
    package = built(str(LESSONS / "15-without-python" / "main.py"), "model.cpu.pt2")
    command = [sys.executable, pathlib.Path(__file__).with_name("judge.py"), answer, next(op.glob("square_plus/_C.*so")), package]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    lines = [line.split() for line in ended.stdout.splitlines()]
    return {name: (int(calls), int(rows), each) for name, calls, rows, *each in lines}


def test_every_request_gets_the_result_for_its_own_rows(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["one"][2] == ["right"]
    assert outcomes["several"][2] == ["right"] * 4
    assert outcomes["full"][2] == ["right"] * 3
    assert outcomes["many"][2] == ["right"] * 3


def test_requests_share_a_call_of_the_model(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["several"][0] == 1, "30 rows fit into one call"
    assert outcomes["full"][0] == 2, "65 rows fit into two calls"


def test_no_call_has_more_rows_than_the_model_accepts(outcomes: dict[str, Outcome]) -> None:
    assert max(rows for _, rows, _ in outcomes.values()) <= 64


def test_a_request_may_be_split_between_two_calls(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["many"][0] == 2, "120 rows fit into two calls"
    assert outcomes["split"] == (3, 64, ["right"]), "150 rows fit into three calls"


def test_a_request_that_the_model_rejects_gets_an_error_and_the_others_their_results(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["bad"][2] == ["right", "error", "right", "error", "right"]


def test_requests_with_the_same_number_of_columns_share_a_call_whatever_is_between_them(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["bad"][0] == 3, "there are three numbers of columns"


def test_without_requests_the_model_is_not_called(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["none"] == (0, 0, [])
