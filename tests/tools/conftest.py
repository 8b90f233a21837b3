import pathlib
import sys
import tempfile
from unittest import mock

import pytest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "common")]

from bare import a_house  # noqa: F401 - a fixture
from course import history


@pytest.fixture
def own_progress():
    """An empty folder for the learner's progress, instead of the one in the repository."""
    with tempfile.TemporaryDirectory() as place, mock.patch.object(history, "folder", lambda: pathlib.Path(place, ".progress")):
        yield pathlib.Path(place, ".progress")
