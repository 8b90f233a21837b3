"""Tests of the lesson's program that its output cannot show. They run once, with the solution."""

import os
import subprocess
import sys

import pytest

from common.built import ROOT

LESSON = ROOT / "05-extension" / "06-debugging"

pytestmark = pytest.mark.skipif("solution" not in os.environ["ANSWER"], reason="it tests the lesson, not the exercise")


def test_a_missing_compute_sanitizer_is_no_failure() -> None:
    """As on a machine with a GPU, but without the toolkit."""
    program = f"import sys; sys.path.insert(0, {str(LESSON)!r}); import main; main.CHECKER = None; sys.exit(main.main())"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "overwritten       | skipped: compute-sanitizer is neither on the PATH nor in the CUDA toolkit\n" in ended.stdout
