# Rejected with: "the version of pytorch is preferred"
# Takes the newest toolkit with the right major version.
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
    return max(fitting, key=lambda folder: fitting[folder], default=None)
