# Where the lesson's op is; and its own tests, which no answer changes, run once, beside the solution.
import os
import pathlib
import sys

import pytest
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "05-extension" / "04-torch-cuda"))

import square as lesson

SEEN = torch.cuda.is_available()


@pytest.fixture(scope="session")
def square():
    lesson.load()
    return lesson


def pytest_collection_modifyitems(items):
    if pathlib.Path(os.environ["ANSWER"]).stem != "solution":
        items[:] = [item for item in items if item.path.name != "test_op.py"]
