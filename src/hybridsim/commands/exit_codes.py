"""Exit codes of the command `hybridsim`, other than 0."""

MISTAKE = 1
"""A defect of HybridSim."""
WRONG_INPUT = 2
"""A file, an option or a number that must be changed; one sentence on stderr says which."""
INTERRUPTED = 130
"""By Ctrl-C, as of any shell command."""
BROKEN_PIPE = 141
"""The reader of stdout has gone, as `head` does."""
