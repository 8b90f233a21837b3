"""Runs the judge in an answer's library: python3 judge.py ANSWER LIBRARY PACKAGE."""

import ctypes
import sys

answer, *places = sys.argv[1:]
sys.exit(ctypes.CDLL(answer).judge(*(place.encode() for place in places)))
