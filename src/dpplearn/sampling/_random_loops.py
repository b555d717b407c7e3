"""Random numbers inside a loop: xoshiro256++ (Blackman and Vigna, 2021), one state of four words per stream."""

import numpy as np

from dpplearn._numba import jit


@jit
def next_word(state):
    """The next 64 random bits; `state` (4,) uint64 moves on."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    x = s0 + s3
    word = ((x << np.uint64(23)) | (x >> np.uint64(41))) + s0
    t = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    state[0], state[1], state[2] = s0, s1, s2
    state[3] = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    return word


@jit
def uniform(state):
    """A float in [0, 1) with 53 random bits."""
    return np.float64(next_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def exponential(state):
    """A standard exponential; 1 - u lies in (0, 1], so the logarithm is finite."""
    return -np.log(1.0 - uniform(state))


@jit(steps=lambda out: 10 * out.size)
def fill(state, out):
    """Uniform numbers into `out`."""
    for a in range(out.size):
        out[a] = uniform(state)
