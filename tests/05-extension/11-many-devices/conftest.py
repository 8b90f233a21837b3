"""What no answer changes is tested once, beside the solution."""

import os

collect_ignore = [] if os.environ.get("ANSWER", "").endswith("solution.py") else ["test_batch_norm.py"]
