"""The commands behind `cudasim`, a module each, with a function main(words) that returns the exit status. A module's docstring is its help."""
