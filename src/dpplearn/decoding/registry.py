"""The table of decoders, for `diversify`, `ConditionalDPP` and the commands.

A decoder is a function (candidates, limits, **its options) -> Selection. A new decoder is a file with that function and
a line here, "name": "module:function". Public functions, such as `greedy_map`, read a model and limits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from inspect import signature
from pkgutil import resolve_name
from typing import Any

from dpplearn.decoding.candidates import Candidates
from dpplearn.decoding.limits import Limits
from dpplearn.decoding.selection import Selection

DECODERS = {
    "greedy": "dpplearn.decoding.greedy:greedy_choice",
    "sampled": "dpplearn.decoding.sampled:sampled_choice",
    "consensus": "dpplearn.decoding.consensus:consensus_choice",
    "exact": "dpplearn.decoding.exact:exact_choice",
    "local": "dpplearn.decoding.local:local_choice",
}
"""A decoder is imported when it is first used."""


def check_decoder(name: Any, argument: str = "decoder") -> str:
    """The name of a decoder; an error lists all names. `argument` is the name of the argument in the error."""
    if not isinstance(name, str) or name not in DECODERS:
        raise ValueError(f"{argument} must be one of {', '.join(map(repr, DECODERS))}; found {name!r}.")
    return name


def decoder(name: str, argument: str = "decoder") -> Callable[..., Selection]:
    """The function of a decoder."""
    function: Callable[..., Selection] = resolve_name(DECODERS[check_decoder(name, argument)])
    return function


def check_options(name: str, options: Iterable[str], *more: str) -> None:
    """An error for an option that neither the decoder nor the caller (`more`) has."""
    own = [*list(signature(decoder(name)).parameters)[2:], *more]
    unknown = sorted(set(options) - set(own))
    if unknown:
        known = " and ".join([", ".join(own[:-1]), *own[-1:]]).removeprefix(" and ") or "none"
        raise TypeError(f"the decoder {name!r} has no option {unknown[0]!r}; its own are {known}.")


def run_decoder(name: str, candidates: Candidates, limits: Limits, **options: Any) -> Selection:
    """The selection of a decoder. If it has fewer than k items, the reason says why and what to do.

    Only "greedy" takes as many items as it may. The other decoders look for the best set of at most k items, which may
    be smaller: the most probable set ends where every further item has a gain below 1.
    """
    check_options(name, options)
    chosen = decoder(name)(candidates, limits, **options)
    none_drawn = getattr(chosen, "n_feasible", None) == 0  # no sample was feasible, as the reason says already
    if name == "greedy" or not limits.sized or none_drawn or not limits.could_take(chosen.subset):
        return chosen
    short = f"{len(chosen)} of the {limits.k} items asked for, though more would fit"
    why = f'"{name}" prefers this set to larger ones; "greedy" takes as many as it may'
    return replace(chosen, reason=f"{chosen.reason}; {short}: {why}")
