"""What needs a package that is not installed has no docstrings to run; tests/integrations says so when it skips.

torch is in an environment of its own: its tests are collected there alone, and `make test-torch` fails without it.
"""

import os
import signal
import threading
from importlib.util import find_spec

os.environ["MPLBACKEND"] = "Agg"  # no window, whatever the machine
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell, as are then all children
    signal.signal(signal.SIGINT, signal.default_int_handler)

FRAMEWORKS = {"langchain_core": "langchain", "llama_index": "llamaindex", "haystack": "haystack"}
collect_ignore = [
    f"src/dpplearn/integrations/{adapter}.py" for name, adapter in FRAMEWORKS.items() if find_spec(name) is None
]
if find_spec("torch") is None:
    collect_ignore += ["src/dpplearn/torch", "tests/tensors"]


def pytest_runtest_setup():
    """Wait for loops that a test before left compiling: numba changes the filters of warnings meanwhile."""
    for thread in threading.enumerate():
        if thread.name == "dpplearn compiles":
            thread.join()
