"""Loops of decoding that see only arrays and numbers."""

import numpy as np

from dpplearn._loops.jit import jit


@jit
def row_squares(rows, out):
    """|rows_i|^2 in float64."""
    for i in range(rows.shape[0]):
        x = 0.0
        for c in range(rows.shape[1]):
            y = np.float64(rows[i, c])
            x += y * y
        out[i] = x
