"""Kinds of similarity, each a record with parameters: fixed, a mixture of parts, scaled features, a projection."""

from __future__ import annotations

from typing import Any

from dpplearn._checks import check_choice, check_int
from dpplearn.learning.similarity.fixed import Fixed, check_nugget
from dpplearn.learning.similarity.learned import Learned
from dpplearn.learning.similarity.mixture import Mixture
from dpplearn.learning.similarity.projected import Projected
from dpplearn.learning.similarity.record import Derivative, Items, Parameter, Similarity
from dpplearn.learning.similarity.scaled import Scaled

__all__ = [
    "SIMILARITIES",
    "Derivative",
    "Fixed",
    "Items",
    "Learned",
    "Mixture",
    "Parameter",
    "Projected",
    "Scaled",
    "Similarity",
    "check_nugget",
    "make_similarity",
]

# By the names that `ConditionalDPP(similarity=...)` takes.
SIMILARITIES: dict[str, type[Any]] = {kind.kind: kind for kind in (Fixed, Mixture, Scaled, Projected)}


def make_similarity(similarity: str | Similarity, rho: float, nugget: float, n_components: int = 2) -> Similarity:
    """The record that a name, with rho and nugget where it is "fixed", or a record itself asks for."""
    if not isinstance(similarity, str | Similarity):
        raise TypeError(f"similarity must be one of {', '.join(SIMILARITIES)} or a Similarity, found {similarity!r}.")
    fixed = Fixed(rho, nugget)
    if isinstance(similarity, str):
        check_choice(similarity, "similarity", tuple(SIMILARITIES))
        if similarity == fixed.kind:
            return fixed
    check_int(n_components, "n_components", low=1)
    made: Similarity = similarity if isinstance(similarity, Similarity) else SIMILARITIES[similarity]()
    if isinstance(similarity, str) and isinstance(made, Projected):
        made = Projected(n_components=n_components)
    if (rho or nugget) and made != fixed:
        raise ValueError(
            f'rho and nugget are those of similarity="fixed"; with {made.kind!r}, found rho={rho:g} and '
            f"nugget={nugget:g}. Leave them out, or put them into the record."
        )
    return made
