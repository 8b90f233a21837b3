"""make help: one screen, in the order in which a learner needs it."""

# These lines, with the few names below them, are all targets and variables that there are: typed.py checks against them.
TARGETS = """\
make 02-03          build and run a lesson; make 02: a chapter
make run            build and run every lesson
make learn          the trainer: predict, run, solve; judges every save
make progress       what you have solved
make check          judge your answers to the exercises
make walk           a guided tour: question, prediction, run, explanation
make doctor         what this machine has for CUDA, and what it lacks
make see 04-11      the film of a kernel: what each warp does, step by step
make book           the course as a site, build/book; LANGUAGE=zh_CN: in Chinese
make bench          run the lessons that measure; keep figures in build/bench
make clean          remove what was built, but not what was downloaded
make grade SUBMISSIONS=folder   for teachers: judge the answers of a class
For contributors:
make test           prove every program, exercise, text and tool
make simulator      build only the simulated GPU and its CUDA runtime
run, learn, check, … take a part of the course: make check 02
"""
VARIABLES = {
    "DEVICE": "gpu, simulator or auto (the default: a GPU if there is one)",
    "ARGS": "words for a lesson's program: make 03-12 ARGS=--controls",
    "V": "V=1 shows every command",
    "CXX": "another compiler: CXX=clang++",
    "CUDA_HOME": "another CUDA toolkit; TOOLKIT_VERSION: the version to fetch",
    "PROGRAM": "for see: any program; ONLY: kernel=NAME launch=2; EXERCISE=1",
    "SANITIZE": "for test: address,undefined (or thread, valgrind, checks, …)",
}
# Known, but not worth a line of the screen.
MORE_TARGETS = ("bench-simulator", "cuobjdump", "fuzz")
MORE_VARIABLES = """IN SUBMISSIONS LANGUAGE TORCH_INDEX TOOLKIT_VERSION SIM_ARCH STRICT FUZZ_SECONDS RECORD UPDATE ONLY EXERCISE CXXFLAGS LDFLAGS TMPDIR
    XDG_CACHE_HOME""".split()


def targets():
    """The targets that have a name of their own: run, walk, …"""
    words = [line.split()[1] for line in TARGETS.splitlines() if line.startswith("make ")]
    return [word for word in words if not word[0].isdigit()] + ["help", *MORE_TARGETS]


def main(words=()):
    print(TARGETS + "Variables:\n" + "\n".join(f"{name + '=':<16}{what}" for name, what in VARIABLES.items()))
    return 0
