"""Speed and quality, measured against what people use today. `make bench` runs everything here.

Each module has `run(quick=False) -> dict` and writes `results/<name>.json`; `report` turns those
files into README.md. Ours and the peer run in the same process, alternating, because machines are
shared and noisy: a ratio means something where a time does not.
"""

import os
import sys

if sys.argv[0] == "-m":  # run as a program, and not imported by another, whose loops it would have compiled
    os.environ.setdefault("DPPLEARN_COMPILE", "always")  # what goes first, unmeasured, compiles, however small it is
