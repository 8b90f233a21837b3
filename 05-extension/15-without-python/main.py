# Starts the server, a C++ program without Python, sends it requests, and compares its replies with what the model computed in Python.
import json
import pathlib
import subprocess
import sys

from common.built import ROOT, built

HERE = pathlib.Path(built(__file__, "facts.json")).parent
LIBRARY = next((ROOT / "build" / "05-extension" / "05-canonical-op" / "installed" / "square_plus").glob("_C.*so"))
FACTS = json.loads((HERE / "facts.json").read_text())
# What the op registers, where the dispatcher keeps it, and the functions of its Python package that belong to it.
REGISTRATIONS = {
    "implementation for the CPU": ("CPU", []),
    "fake implementation": ("Meta", ["like_first"]),
    "gradient": ("Autograd", ["save_x", "gradients"]),
    "autocast rule": ("AutocastCPU", []),
    "vmap rule": ("FuncTorchBatched", ["batched"]),
}
Matrix = list[list[float]]


class Server:
    """The C++ program. It serves until it is closed."""

    def __init__(self, library: str = str(LIBRARY), device: str = "cpu", package: str = "") -> None:
        command = [built(__file__, "serve"), library, str(HERE / f"model.{package or device}.pt2"), device]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ask(self, request: str) -> str:
        """Its reply; if it has ended, what it said last."""
        try:
            self.process.stdin.write(request + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self.last_words()
        return self.process.stdout.readline().strip() or self.last_words()

    def last_words(self) -> str:
        return (self.process.stderr.read().strip().splitlines() or ["no reply"])[-1]

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


def request(word: str, x: Matrix) -> str:
    return " ".join([word, str(len(x)), str(len(x[0])), *(str(value) for row in x for value in row)])


def verdict(reply: str, expected: Matrix) -> str:
    """'as in Python', if the reply has the right shape and numbers, or what else it is."""
    if not reply[:1].isdigit():
        return reply
    flat = [value for row in expected for value in row]
    shape, numbers = reply.split()[:2], reply.split()[2:]
    if shape != [str(len(expected)), "3"] or len(numbers) != len(flat):
        return f"{' x '.join(shape)}, not as in Python"
    close = all(abs(float(number) - value) <= 1e-5 * abs(value) for number, value in zip(numbers, flat))
    return "as in Python" if close else "other numbers than in Python"


def show_registrations(server: Server) -> bool:
    here = server.ask("op square_plus::forward").split()
    print(f"{'square_plus::forward':26} | in Python | called while packaging | in the server")
    for name, (key, functions) in REGISTRATIONS.items():
        calls = sum(FACTS["calls"].get(function, 0) for function in functions)
        called = "-" if not functions else "yes" if calls else "no"
        print(f"{name:26} | {'yes' if key in FACTS['ops']['square_plus::forward'] else 'no':9} | {called:22} | {'yes' if key in here else 'no'}")
    return here[:2] == ["schema", "CPU"]


def main() -> int:
    x, y = FACTS["x"], FACTS["y"]
    wide = [[*row, 9.0] for row in x[:2]]
    with Server() as server:
        right = show_registrations(server)
        print(f"\n{'to the server':26} | reply")
        replies = {
            "is Python in your process?": server.ask("python"),
            "a batch of 1": verdict(server.ask(request("run", x[:1])), y[:1]),
            "a batch of 64": verdict(server.ask(request("run", x)), y),
            "a batch of 65": verdict(server.ask(request("run", x + x[:1])), y + y[:1]),
            "5 columns instead of 4": verdict(server.ask(request("run", wide)), y[:2]),
            "a batch of 3": verdict(server.ask(request("run", x[:3])), y[:3]),
            "op made::in_python": server.ask("op made::in_python"),
        }
    for asked, reply in replies.items():
        print(f"{asked:26} | {reply}")
    with Server(library="-") as server:
        print(f"without the op's library   | {server.ask('python')}")
    if (HERE / "model.cuda.pt2").exists():
        with Server(device="cuda") as server:
            on_gpu = verdict(server.ask(request("replay", x[:3])), y[:3])
        right &= on_gpu == "as in Python"
        print(f"{'on a GPU, a replayed graph':26} | {on_gpu}")
    good = ("a batch of 1", "a batch of 64", "a batch of 3")
    return int(not right or replies["is Python in your process?"] != "no" or any(replies[name] != "as in Python" for name in good))


if __name__ == "__main__":
    if sys.argv[1:] == ["times"]:
        import times

        sys.exit(times.main())
    sys.exit(main())
