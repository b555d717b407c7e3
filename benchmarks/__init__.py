"""Measures speed and quality beside what people use today; `make bench` runs every benchmark.

Each benchmark is a module with `run(quick=False) -> dict`. `timing.main` runs it and stores the result in
`results/NAME.json`; `report` writes README.md from those files. Machines are shared and noisy, so dpplearn and its peer
run in the same process, in turns: the ratio of their times means more than the times.
"""

import os
import sys

if sys.argv[0] == "-m":  # this is the main program: when a test imports the package, its loops need not be compiled
    os.environ.setdefault("DPPLEARN_COMPILE", "always")  # the unmeasured first call compiles even the smallest loops
