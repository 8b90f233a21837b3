# Locates the lesson's op. The op's own tests do not depend on the exercise, so they run once, with the solution.
import os
import pathlib
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "05-extension" / "04-canonical-op"))

import square as lesson

SEEN = torch.cuda.is_available()


@pytest.fixture(scope="session")
def square():
    lesson.load()
    return lesson


def pytest_collection_modifyitems(items):
    if pathlib.Path(os.environ["ANSWER"]).stem != "solution":
        items[:] = [item for item in items if item.path.name != "test_op.py"]
