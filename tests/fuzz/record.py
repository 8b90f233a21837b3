#!/usr/bin/env python3
"""Makes recorded.inc of what a GPU answered: record.py gpu.txt > tests/fuzz/recorded.inc, where gpu.txt is what
FUZZ_SEEDS=0-9999 check '[digests]' printed there. Of each line six digits are kept, as fuzz.cpp's shortened() has them."""

import sys

IN_LINE = 100


def shortened(digests):
    value = 2166136261
    for digest in digests:
        value = (value ^ int(digest, 16)) * 16777619 & 0xFFFFFFFF
    return f"{value >> 8:06x}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    answers = {}
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and words[0].isdigit():
                answers[int(words[0])] = shortened(words[1:])
    if sorted(answers) != list(range(len(answers))) or len(answers) % IN_LINE:
        sys.exit(f"record.py: {sys.argv[1]} does not hold the seeds from 0 on, a multiple of {IN_LINE}")
    for first in range(0, len(answers), IN_LINE):
        print('"' + "".join(answers[seed] for seed in range(first, first + IN_LINE)) + '",')


main()
