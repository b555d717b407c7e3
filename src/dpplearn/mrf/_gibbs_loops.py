"""Gibbs sweeps of a pairwise Markov random field, with a temperature that may change from sweep to sweep.

The odds of item i given all others are exp(w_i + f_i), with f_i = sum of w_ij over the chosen j. Each flip of an item
updates all f_i from one row of W.
"""

import numpy as np

from dpplearn._numba import jit
from dpplearn.sampling._spectral_loops import uniform


@jit(steps=lambda betas, Y: betas.size * Y.size * (10 + Y.shape[1] / 4))
def anneal(w, W, base, betas, Y, states, log_weights):
    """Sweep every row of Y (chains, n) once for each of betas[1:], and update the log_weights of annealing.

    The target at beta is exp((1 - beta) base . y + beta score(y)). Before each sweep, a chain's log weight grows by
    (beta - last beta) (score(y) - base . y) (Neal, 2001). If all betas are 1, this is Gibbs sampling without weights.
    """
    chains, n = Y.shape
    f = np.empty(n)
    for c in range(chains):
        y, state = Y[c], states[c]
        f[:] = 0.0
        excess = 0.0  # score(y) - base . y
        for i in range(n):
            if y[i]:
                excess += w[i] - base[i] + f[i]
                for j in range(n):
                    f[j] += W[i, j]
        for t in range(1, betas.size):
            beta = betas[t]
            log_weights[c] += (beta - betas[t - 1]) * excess
            for i in range(n):
                field = (1.0 - beta) * base[i] + beta * (w[i] + f[i])
                chosen = uniform(state) * (1.0 + np.exp(-field)) < 1.0
                if chosen != y[i]:
                    sign = 1.0 if chosen else -1.0
                    y[i] = chosen
                    excess += sign * (w[i] - base[i] + f[i])  # f_i has no term of item i itself
                    for j in range(n):
                        f[j] += sign * W[i, j]
