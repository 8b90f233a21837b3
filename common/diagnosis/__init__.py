# make doctor: every NVIDIA library that a machine could load, which of them win, what does not fit together, and what to type.
#
#   machine.py    the machine that is looked at: its files, its environment, its commands (or those of a made-up one)
#   elf.py        what a shared library says about itself: its name, what it needs, where it looks for that
#   loader.py     the dynamic loader's search, as ld.so(8) describes it
#   catalog.py    which libraries there are, and what each is for
#   python.py     Python environments: wheels, conda, PyTorch
#   toolkits.py   installations of the CUDA Toolkit, their nvcc and host compiler
#   libraries.py  all libraries found, with version and origin
#   driver.py     the driver: kernel side, library, what it answers
#   findings.py   all of it together
#   verdicts.py   nine typical tasks, each with a verdict
#   report.py     as text, and as JSON
