# Makes the lesson's modules importable. They are tested once, with the solution.
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "05-extension" / "07-torch-driver"))
collect_ignore = [] if os.environ.get("ANSWER", "").endswith("solution.py") else ["test_launch.py", "test_dlpack.py"]

# On the simulator, work in a stream then begins up to 2 ms later, so code that frees memory without waiting for its kernels fails.
os.environ.setdefault("CUDASIM_DELAY", "2")
