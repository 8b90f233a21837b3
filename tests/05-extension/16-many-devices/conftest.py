"""What does not depend on the exercise is tested once, with the solution."""

import os

collect_ignore = [] if os.environ.get("ANSWER", "").endswith("solution.py") else ["test_batch_norm.py"]
