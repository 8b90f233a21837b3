# Rejected with: "a toolkit with another major version does not fit"
# Takes any toolkit.
import re


def choose(torch_cuda: str | None, reports: dict[str, str]) -> str | None:
    if torch_cuda is None:
        return None
    major, minor = map(int, torch_cuda.split("."))
    fitting = {}
    for folder, report in reports.items():
        found = re.search(r"release (\d+)\.(\d+)", report)
        if found:
            fitting[folder] = int(found[2])
    older = [folder for folder in fitting if fitting[folder] <= minor]
    if older:
        return max(older, key=lambda folder: fitting[folder])
    return min(fitting, key=lambda folder: fitting[folder], default=None)
