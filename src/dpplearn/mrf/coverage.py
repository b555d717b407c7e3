"""Do weighed samples see all of a field? Sets whose weight is known, and chains that came another way, tell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dpplearn._checks import FloatArray
from dpplearn.estimate import Estimate
from dpplearn.mrf.chains import annealed, climb, swept, weighted_moments
from dpplearn.mrf.enumeration import Rows, rows_to_subsets, scores

STATES, APART = 10, 5  # of each chain, so many sweeps apart
STARTS, ROUNDS, WIDTH = 50, 10, 200  # of the search for heavy sets: coins, rounds of flips, sets kept of a round
SURE = 4.0  # standard errors
HEAVIER, LARGE = 3.0, 0.1  # times the error by samples, and nats: an error by chains beyond both is not to be trusted


class FieldSurvey(NamedTuple):
    """One annealing of a field, the sets of large weight, and where the chains went afterwards."""

    log_weights: FloatArray  # of the chains; their exponentials have mean Z
    chains: Rows  # STATES states of each chain, the first of all chains first
    known: Rows  # sets of large weight
    known_log: FloatArray

    @property
    def pairs(self) -> FloatArray:
        """P(i and j in Y): of known sets by their weights, of others by the chains."""
        other = ~np.isin(keys(self.chains), keys(self.known))
        log_chains = np.tile(self.log_weights, STATES)[other] - np.log(len(self.chains))
        return weighted_moments(np.append(self.known_log, log_chains), np.vstack([self.known, self.chains[other]]))[1]


def survey(
    w: FloatArray, W: FloatArray, chains: int, sweeps: int, rng: np.random.Generator, share: float | None = None
) -> FieldSurvey:
    """Anneal once, look for heavy sets from there, and let the chains go on in the field."""
    log_weights, ends = annealed(w, W, chains, sweeps, rng, share)
    known = heavy_sets(w, W, ends, rng)
    visited = [ends]
    while len(visited) < STATES:
        visited.append(swept(w, W, visited[-1], APART, rng))
    return FieldSurvey(log_weights, np.concatenate(visited), known, scores(w, W, known))


class Covered(NamedTuple):
    """What weighed samples say of a field, completed by sets whose weight is known."""

    log_z: Estimate  # its standard error is infinite where `unseen` says why
    pairs: FloatArray  # P(i and j in Y)
    effective: float  # share of the samples that count, times the share of Z that they see
    best: float  # log Z by the samples or by the chains: where `unseen`, the larger one, else the one that varies less
    unseen: str  # what the samples miss, "" where nothing was found


def cover(w: FloatArray, W: FloatArray, log_weights: FloatArray, Y: Rows, seen: FieldSurvey, q: Any = None) -> Covered:
    """log Z from weighed samples and from sets of known weight, and whether its error may be trusted.

    The survey was made without the samples. They miss something where

    * they give the known sets another weight than these have: the known weight then takes its place;
    * the survey's annealing surely finds more;
    * its chains, which go on in the field, find larger weights than samples of q have. The mean of f over the field is
      the sum of e^s f / Z, so that the mean of e^s / q over the chains, and its sum over the known sets, tell the
      variance of weights under q. The error is the larger one; far too large, it says only that q misses a part.
    """
    ends_log, chains, known, known_log = seen
    top = float(max(log_weights.max(), ends_log.max(), known_log.max()))
    exact = np.exp(known_log - top)
    new, elsewhere = (~np.isin(keys(rows), keys(known)) for rows in (Y, chains))
    mine = total(np.exp(log_weights - top), new.astype(np.float64), exact)
    other = total(np.exp(ends_log - top), elsewhere.reshape(STATES, -1).mean(axis=0), exact)
    unseen, z, error = "", mine.z, mine.error
    if mine.missing:
        way = "little" if mine.missing > 0 else "much"
        unseen = f"they put {abs(mine.missing):.2g} of Z too {way} on {len(known)} sets of known weight"
    elif other.z - z > SURE * np.hypot(error, other.error):
        unseen = f"annealing finds {np.log(other.z / z):.2g} nats more"
    elif q is not None:
        far, mass = [chains[elsewhere]], [np.exp(np.tile(ends_log, STATES)[elsewhere] - top) / len(chains)]
        if not mine.split:
            far, mass = [*far, known], [*mass, exact]
        rows, second = np.concatenate(far), 0.0
        if len(rows):
            ratio = scores(w, W, rows) - np.asarray(q.log_prob(rows_to_subsets(rows))) - top
            with np.errstate(over="ignore"):
                second = float(np.concatenate(mass) @ np.exp(ratio))
        spread = np.sqrt(max(second - (z - mine.split * float(exact.sum())) ** 2, 0.0) / len(Y))
        if spread > max(HEAVIER * error, LARGE * z):
            unseen = f"by chains in the field the error is {spread / z:.2g}, by the samples {error / z:.2g}"
        error = max(error, float(spread))
    best = max(z, other.z) if unseen else min((error, z), (other.error, other.z))[1]
    error = float(np.hypot(error / z, 1 / len(chains)))  # nothing above looks closer than one in so many
    log_z = Estimate(top + float(np.log(z)), np.inf if unseen else error)
    weighed = np.concatenate([known_log + np.log(len(Y)), log_weights[new]]), np.concatenate([known, Y[new]])
    pairs = weighted_moments(*(weighed if mine.split else (log_weights, Y)))[1]
    by_samples, _, effective = weighted_moments(log_weights, Y)
    log_best = top + float(np.log(best))
    return Covered(log_z, pairs, effective * float(np.exp(min(by_samples - log_best, 0.0))), log_best, unseen)


class Total(NamedTuple):
    """Z, up to a factor."""

    z: float
    error: float  # its standard error
    split: bool  # whether the known sets count by their own weight, and only the others by samples
    missing: float  # share of z, in known sets, that the samples surely miss


def total(weights: FloatArray, new: FloatArray, exact: FloatArray) -> Total:
    """Z by the mean weight, or by the known sets and the mean weight of the samples, or shares, that are `new`.

    It is the one that varies less; but the second where the samples give the known sets another weight than these
    have. A set with a chance of less than one in N is in none of N samples: no error is below z / N.
    """
    size, known = weights.size, float(exact.sum())
    (seen, error), (rest, rest_error), (old, old_error) = (
        (float(x.mean()), float(np.hypot(x.std(ddof=1) / np.sqrt(size), weights.mean() / size)))
        for x in (weights, weights * new, weights * (1.0 - new))
    )
    missing = known - old
    if abs(missing) > SURE * old_error:
        return Total(known + rest, rest_error, True, missing / (known + rest))
    return min(Total(seen, error, False, 0.0), Total(known + rest, rest_error, True, 0.0), key=lambda t: t.error)


def heavy_sets(w: FloatArray, W: FloatArray, near: Rows, rng: np.random.Generator) -> Rows:
    """Some 2,000 sets of large weight: no item, all items, the tops that climbs reach, the best flips from there."""
    coins = rng.random((STARTS, w.size)) < np.linspace(0.0, 1.0, STARTS)[:, None]  # none of the items ... all of them
    found = frontier = unique(np.concatenate([coins[[0, -1]], climb(w, W, np.concatenate([coins, near]))]))
    for _ in range(ROUNDS):
        flipped = scores(w, W, frontier)[:, None] + np.where(frontier, -1.0, 1.0) * (w + frontier @ W)
        row, item = np.unravel_index(np.argsort(-flipped, axis=None)[: 20 * WIDTH], flipped.shape)
        frontier = frontier[row]
        frontier[np.arange(len(row)), item] ^= True
        frontier = unique(frontier[~np.isin(keys(frontier), keys(found))])  # most flips lead back
        frontier = frontier[np.argsort(-scores(w, W, frontier))[:WIDTH]]
        found = np.concatenate([found, frontier])
    return found


def keys(Y: Rows) -> npt.NDArray[Any]:
    """One value for each row, the same for the same rows."""
    bits = np.packbits(Y, axis=1)
    return bits.view(f"V{bits.shape[1]}").ravel()


def unique(Y: Rows) -> Rows:
    return Y[np.unique(keys(Y), return_index=True)[1]]
