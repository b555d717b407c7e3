"""Ways in which people hold the same numbers: types, byte orders, layouts, sparse, Arrow.

Numbers that float16 holds exactly are the same in all of them.
"""

import numpy as np
from scipy import sparse


def strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, 1::3] = X
    return wide[::2, 1::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def arrow(X):
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])


def arrow_chunks(X):
    import pyarrow as pa

    half = len(X) // 2
    return pa.chunked_array([arrow(X[:half]), arrow(X[half:])]) if half else pa.chunked_array([arrow(X)])


DENSE = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    ">f8": lambda X: X.astype(">f8"),
    ">f4": lambda X: X.astype(">f4"),
    ">f2": lambda X: X.astype(">f2"),
    "columns first": np.asfortranarray,
    "strided": strided,
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
}
SPARSE = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "csr matrix": sparse.csr_matrix,
    "csr float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "csr unsorted": lambda X: unsorted(sparse.csr_array(X)),
    "coo repeated": lambda X: repeated(sparse.coo_array(X)),
}
ARROW = {"arrow": arrow, "arrow in chunks": arrow_chunks}
WHOLE = {
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    ">i4": lambda X: X.astype(">i4"),
    "lists of whole numbers": lambda X: X.astype(int).tolist(),
}


def unsorted(A):
    """The same entries, each row's from right to left."""
    for i in range(A.shape[0]):
        part = slice(A.indptr[i], A.indptr[i + 1])
        A.indices[part], A.data[part] = A.indices[part][::-1].copy(), A.data[part][::-1].copy()
    A.has_sorted_indices = False
    return A


def repeated(A):
    """Each entry as a sum of two."""
    halves = np.concatenate([A.data / 2, A.data / 2])
    return sparse.coo_array((halves, (np.tile(A.row, 2), np.tile(A.col, 2))), A.shape)
