"""Importing dpplearn is light, and what a user needs is there."""

import subprocess
import sys


def run(code, env=None):
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env)


def test_import_brings_nothing_heavy():
    heavy = {"numba", "sklearn", "matplotlib", "click", "fastapi", "distributed"}
    assert run(f"import dpplearn, sys; print({heavy} & set(sys.modules))").stdout == "set()\n"


def test_inference_needs_no_compiler():
    """Probabilities, marginals and conditioning work without compiling a loop."""
    code = (
        "import dpplearn, sys; d = dpplearn.DPP([[2.0, 1.0], [1.0, 2.0]]);"
        "d.marginals, d.log_prob([0]), d.condition([0]).K, d.size_pmf;"
        "d.log_prob(dpplearn.Subsets.from_lists([[0], [1], []], 2)); print('numba' in sys.modules)"
    )
    assert run(code).stdout == "False\n"
