"""The op's own tests do not depend on the exercise, and PyTorch takes seconds to load, so they run once."""

import os

collect_ignore = [] if os.environ.get("ANSWER", "").endswith("solution.py") else ["test_op.py"]
