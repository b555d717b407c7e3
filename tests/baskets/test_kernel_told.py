"""Baskets as people bring them: every form is the same, and what cannot be is told."""

import numpy as np
import pytest
from scipy import sparse

from dpplearn import KernelDPP
from dpplearn.baskets import completion
from made_up_baskets import NAMES, called


def test_baskets_in_all_their_forms_are_the_same(draws, fitted):
    X = draws.to_sparse()
    rows = np.repeat(np.arange(len(draws)), draws.sizes)
    filled = [Y.tolist() for Y in draws if Y.size]
    long = KernelDPP.from_long({"order": rows, "what": draws.indices}, basket="order", item="what")
    assert fitted.score(list(draws)) == fitted.score(X) == fitted.score(draws)
    assert fitted.score(long) == pytest.approx(fitted.score(filled))
    for form in (list(map(set, draws)), sparse.coo_matrix(X), [Y.tolist() for Y in draws]):
        again = KernelDPP(nonsymmetric=True, alpha=0.1).fit(form)
        assert again.score(draws) == pytest.approx(fitted.score(draws), rel=1e-6)  # BLAS rounds as memory lies
    assert fitted.n_empty_ == (draws.sizes == 0).sum() > 0
    named = KernelDPP(nonsymmetric=True, alpha=0.1).fit(called(draws))
    assert named.items_.tolist() == NAMES
    assert named.score(called(draws)) == pytest.approx(fitted.score(draws), rel=1e-6)


def test_a_catalogue_names_the_columns_of_tables(draws, fitted):
    named = KernelDPP(nonsymmetric=True, alpha=0.1).fit(draws.to_sparse(), items=NAMES)
    assert named.items_.tolist() == NAMES
    assert named.score(draws) == pytest.approx(fitted.score(draws), rel=1e-6)
    assert named.score(draws) == named.score(draws.to_sparse()) == named.score(called(draws))
    with pytest.raises(ValueError, match="column for each of 5 items, found 6"):
        KernelDPP(alpha=1.0).fit(draws, items=NAMES[:5])
    with pytest.raises(ValueError, match="different, found 'bib'"):
        KernelDPP(alpha=1.0).fit([["bib"]], items=["bib", "bib"])
    for items in (["a", 1], [1.0, 2.0], []):
        with pytest.raises(TypeError, match=r"texts"):
            KernelDPP(alpha=1.0).fit([["a"]], items=items)


@pytest.mark.parametrize(
    ("options", "baskets", "message"),
    [
        ({"rank": 2}, [[0, 1, 2], [3]], "rank=3"),
        ({}, [[], []], "No basket holds"),
        ({"alpha": -1.0}, [[0]], "alpha must lie between 0"),
        ({"alpha": 1.0}, [[1, 2**63], [1]], f"64 bits, found {2**63}"),
    ],
)
def test_what_cannot_be_is_told(options, baskets, message):
    with pytest.raises(ValueError, match=message):
        KernelDPP(**options).fit(baskets)


@pytest.mark.parametrize(
    "baskets", ["file.csv", ["a b"], [1, 2], [["a", 1]], [[1.5]], [[None]], [[True]], 7, np.eye(3, dtype=np.int64)]
)
def test_what_are_no_baskets_is_told(baskets):
    with pytest.raises(TypeError, match=r"basket|Basket|Items"):
        KernelDPP().fit(baskets)


def test_items_never_seen_are_named_with_the_nearest(draws):
    model = KernelDPP(alpha=1.0).fit(called(draws))
    with pytest.raises(ValueError, match=r"no item 'botle'.*'bottle'"):
        model.recommend(["botle"])
    with pytest.raises(ValueError, match="no item"):
        model.score([["bib", "sink"]])
    with pytest.raises(TypeError, match="found the text 'bib'"):
        model.recommend("bib")
    found = completion(model, [["bib", "sink", "cot"], ["sink", "bib"]])
    assert (found.n_unseen, found.n_baskets, found.n_small) == (2, 1, 1)
    with pytest.raises(AttributeError, match="call fit first"):
        KernelDPP().recommend(["bib"])
    low = KernelDPP(rank=3, alpha=0.1).fit([["a", "b", "c"], ["c", "d"], ["d"], ["e", "a"]])
    with pytest.raises(ValueError, match="larger rank"):
        low.recommend(["a", "b", "c"])


def test_items_may_be_numbers_of_any_integer_type():
    rows, catalogue = np.array([[1, 2], [2, 3]], np.uint8), np.arange(1, 5, dtype=np.uint64)
    assert KernelDPP(alpha=1.0).fit([list(row) for row in rows]).items_.tolist() == [1, 2, 3]
    assert KernelDPP(alpha=1.0).fit(rows.tolist(), items=catalogue).items_.tolist() == [1, 2, 3, 4]
