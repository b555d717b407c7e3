"""Adapters whose framework is not installed have no docstrings to run; tests/integrations says so when it skips."""

import os
import signal
from importlib.util import find_spec

os.environ["MPLBACKEND"] = "Agg"  # no window, whatever the machine
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell, as are then all children
    signal.signal(signal.SIGINT, signal.default_int_handler)

FRAMEWORKS = {"langchain_core": "langchain", "llama_index": "llamaindex", "haystack": "haystack"}
collect_ignore = [
    f"src/dpplearn/integrations/{adapter}.py" for name, adapter in FRAMEWORKS.items() if find_spec(name) is None
]
