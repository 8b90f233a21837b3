"""What this package cannot do, as a sentence for the user."""


class Problem(Exception):
    """Why something is not possible, and what to do about it. The command prints it as `cudasim: <sentence>`."""


class DoesNotCompile(Problem):
    """nvcc rejected the program. `errors` is what nvcc printed, empty if the user has seen it already."""

    def __init__(self, sentence: str, status: int, errors: str):
        super().__init__(sentence)
        self.status, self.errors = status, errors
