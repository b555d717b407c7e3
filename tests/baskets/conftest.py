"""Baskets, and a kernel learned from them."""

import pytest

from dpplearn import KernelDPP
from made_up_baskets import made_up


@pytest.fixture(scope="module")
def draws():
    return made_up()[1]


@pytest.fixture(scope="module")
def fitted(draws):
    return KernelDPP(nonsymmetric=True, alpha=0.1).fit(draws)
