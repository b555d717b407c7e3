"""Importing dpplearn is light, and what a user needs is there."""

import subprocess
import sys

import pytest

import dpplearn


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)


@pytest.mark.parametrize("heavy", ["numba", "sklearn", "matplotlib", "click", "rich", "fastapi", "distributed"])
def test_import_brings_nothing_heavy(heavy):
    assert run(f"import dpplearn, sys; print({heavy!r} in sys.modules)").stdout == "False\n"


def test_inference_needs_no_compiler():
    """Probabilities, marginals and conditioning work without compiling a loop."""
    code = (
        "import dpplearn, sys; d = dpplearn.DPP([[2.0, 1.0], [1.0, 2.0]]);"
        "d.marginals, d.log_prob([0]), d.condition([0]).K, d.size_pmf; print('numba' in sys.modules)"
    )
    assert run(code).stdout == "False\n"


def test_public_names():
    for name in dpplearn.__all__:
        assert getattr(dpplearn, name).__doc__, name
    assert {"DPP", "KDPP", "LowRankDPP", "Subsets", "nearest_psd"} <= set(dpplearn.__all__)
