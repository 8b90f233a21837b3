"""The op's own tests do not depend on the learner's answer: once is enough, for PyTorch takes seconds to load."""

import os

collect_ignore = [] if os.environ.get("ANSWER", "").endswith("solution.py") else ["test_op.py"]
