"""The baseline of three examples: maximal marginal relevance (Carbonell and Goldstein, 1998)."""

import numpy as np


def mmr(scores, S, lam, k=None, cost=None, budget=np.inf):
    """Add argmax of lam * score_i - (1 - lam) * max_j S_ij, scores from 0 to 1, while k and the budget allow.

    >>> mmr([3, 2, 1], np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]]), lam=0.5, k=2)
    [0, 2]
    """
    scores = (scores - np.min(scores)) / np.ptp(scores)
    cost = np.ones(len(scores)) if cost is None else np.asarray(cost)
    chosen = []
    while len(chosen) < (k or len(scores)):
        fits = np.setdiff1d(np.flatnonzero(cost <= budget - cost[chosen].sum()), chosen)
        if not fits.size:
            break
        nearest = S[np.ix_(fits, chosen)].max(axis=1, initial=0.0)
        chosen.append(int(fits[np.argmax(lam * scores[fits] - (1 - lam) * nearest)]))
    return chosen
