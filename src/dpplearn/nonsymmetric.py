"""A DPP whose kernel need not be symmetric: items may attract each other, and not only repel."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from dpplearn._cached import cached_property
from dpplearn._checks import (
    FloatArray,
    IntArray,
    Items,
    Seed,
    check_array,
    check_choice,
    check_disjoint,
    check_int,
    check_items,
    check_jobs,
    check_rng,
    read_only,
    row_lengths,
)
from dpplearn._linalg import tolerance
from dpplearn._loops.records import Jumps
from dpplearn._precision import rounding
from dpplearn.determinantal import ComplexArray, sum_of_pairs
from dpplearn.minors import check_minors, log_minor, schur
from dpplearn.operand import TwoSided
from dpplearn.process import Absent, PointProcess, check_remaining, frozen, impossible
from dpplearn.sampling.nonsymmetric import make_jumps, sample_elimination, sample_jumps
from dpplearn.subsets import Subsets


class NonsymmetricDPP(PointProcess):
    """Determinantal point process with likelihood kernel L = V V^T + B (D - D^T) B^T.

    P(Y) = det(L_Y) / det(L + I), as for every DPP. The symmetric part V V^T repels; the skew one can attract: two items
    may come together more often than apart, which no symmetric kernel can say (Gartrell et al., 2019, 2021). Every
    principal minor is >= 0, because the symmetric part is positive semidefinite, and det(L + I) >= 1.
    With few columns, no n x n array is ever formed: time O(n d^2), memory O(n d), for d columns in all.

    Parameters
    ----------
    V : array of shape (n, r)
    B : array of shape (n, s)
        May be V itself; then L = V (I + D - D^T) V^T, and d = r. Otherwise d = r + s.
    D : array of shape (s, s)
        Of which only D - D^T counts.

    Examples
    --------
    >>> dpp = NonsymmetricDPP(V=[[0.5], [0.0]], B=[[1.0, 0.0], [0.0, 1.0]], D=[[0.0, 1.0], [0.0, 0.0]])
    >>> dpp.L
    array([[ 0.25,  1.  ],
           [-1.  ,  0.  ]])
    >>> dpp.marginals.round(3), round(dpp.inclusion_prob([0, 1]), 3)  # bought together, or hardly at all
    (array([0.556, 0.444]), 0.444)
    """

    eigenpairs = Absent("eigenvalues of L are complex, eigenvectors not orthogonal. For the law of |Y|, use size_pmf")
    spectrum = Absent("no orthonormal vectors give K = V diag(p) V^T. Use K, marginals or size_pmf")
    quality = Absent("where items attract, L_ij is not bounded by sqrt(L_ii L_jj). Use L.diagonal(), or marginals")
    similarity = Absent("L_ij and L_ji differ, and may attract. Use correlations()")
    from_quality = Absent("a similarity S is symmetric. Use DPP.from_quality, or from_kernel(L)")
    from_marginal = Absent(
        "eigenvalues in [0, 1] do not make K a marginal kernel. Use from_kernel(K @ inv(I - K)), which checks"
    )

    _Z: FloatArray
    _C: FloatArray
    _whole: bool  # L itself is kept, as C, with Z = I

    def __init__(self, V: ArrayLike, B: ArrayLike, D: ArrayLike) -> None:
        rows, other, core = (check_array(x, name, 2) for x, name in ((V, "V"), (B, "B"), (D, "D")))
        for name, x in (("V", rows), ("B", other)):
            if 0 in x.shape:
                raise ValueError(f"{name} must have at least one row (item) and one column, found shape {x.shape}.")
        if len(rows) != len(other):
            raise ValueError(f"V and B must have one row per item, found {len(rows)} and {len(other)} rows.")
        if core.shape != (other.shape[1], other.shape[1]):
            raise ValueError(
                f"D must be square, with a row and a column for each column of B ({other.shape[1]}), "
                f"found shape {core.shape}."
            )
        read_only(rows, other, core)
        skew = core - core.T
        r = rows.shape[1]
        if rows.shape == other.shape and np.array_equal(rows, other):
            Z, C = rows, np.eye(r) + skew
        else:
            Z, C = np.hstack([rows, other]), linalg.block_diag(np.eye(r), skew)
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite((Z @ C) * Z).all():
                raise ValueError("V, B and D are too large for L to hold floats; scale them down.")
        self._keep(Z, C, np.arange(len(Z)))
        self._set(_parts=(rows, other, core))

    def _keep(self, Z: FloatArray | None, C: FloatArray, items: IntArray) -> None:
        whole = Z is None or Z.shape[1] >= len(Z)
        if Z is not None and whole:  # the smaller matrix is the n x n one
            C = Z @ C @ Z.T
        if Z is None or whole:
            Z = np.eye(len(C))
        self._set(_Z=Z, _C=C, items=items, _whole=whole)
        read_only(Z, C, items)

    @classmethod
    def _of(cls, Z: FloatArray | None, C: FloatArray, items: IntArray) -> Self:
        """The process with L = Z C Z^T, or C itself."""
        self = cls.__new__(cls)
        self._keep(Z, C, items)
        return self

    @classmethod
    def from_kernel(cls, L: ArrayLike, *, check: bool = True) -> Self:
        """The process with likelihood kernel L, whose principal minors must be >= 0 (a P0 matrix).

        It suffices that the symmetric part (L + L^T) / 2 is positive semidefinite, which is looked at first. Where it
        is not, up to 14 items every principal minor is computed. Beyond, nothing cheap decides: such a kernel is
        refused, unless you know that its minors are >= 0 (as for an M-matrix, or a diagonally dominant one) and say so.

        Parameters
        ----------
        L : array of shape (n, n)
        check : bool
            False leaves only what costs n^2: minors of one and of two items.

        Examples
        --------
        >>> dpp = NonsymmetricDPP.from_kernel([[1.0, 2.0], [-2.0, 1.0]])
        >>> dpp.correlations().round(3)
        array([[1.   , 0.333],
               [0.333, 1.   ]])
        >>> NonsymmetricDPP.from_kernel([[1.0, 2.0], [2.0, 1.0]])
        Traceback (most recent call last):
        ...
        ValueError: L must have principal minors >= 0, but det(L_Y) is -3 for Y = [0, 1]. ...
        """
        A = check_array(L, "L", 2)
        if A.shape[0] != A.shape[1] or len(A) == 0:
            raise ValueError(f"L must be square (one row and one column per item), found shape {A.shape}.")
        check_minors(A, tolerance(L), everything=check)
        return cls._of(None, A, np.arange(len(A)))

    # The kernel

    @property
    def n(self) -> int:
        return int(self.items.size)

    @property
    def V(self) -> FloatArray:
        """Rows of the symmetric part V V^T; found from the kernel where it was not given as V, B and D."""
        return self._parts[0]

    @property
    def B(self) -> FloatArray:
        """Rows of the skew part B (D - D^T) B^T."""
        return self._parts[1]

    @property
    def D(self) -> FloatArray:
        """How the columns of B go together."""
        return self._parts[2]

    @cached_property
    def _operand(self) -> TwoSided:
        return TwoSided(self._C if self._whole else self._Z @ self._C, self._Z, self._whole)

    @property
    def L(self) -> FloatArray:
        """The likelihood kernel, an n x n array; made anew each time, and never needed by anything else here."""
        return self._C.copy() if self._whole else self._operand.block(self._some_items(None))

    @cached_property
    def _parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """V, B and D of a process that was made in another way."""
        S = (self._C + self._C.T) / 2
        lam, U = linalg.eigh(S, check_finite=False)
        if lam[0] < -rounding(len(S)) * max(float(np.abs(self._C).max()), 1e-300) * len(S):
            raise ValueError(
                "This kernel has no factors V, B and D, because its symmetric part is not positive semidefinite: "
                f"it has eigenvalue {lam[0]:.3g}. Use L."
            )
        V, D = self._Z @ (U * np.sqrt(np.maximum(lam, 0.0))), (self._C - self._C.T) / 4
        read_only(V, D)
        return V, self._Z, D

    @cached_property
    def _marginal(self) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Q, T, W and log det(L + I), with L = Q T Q^T and K = Q W Q^T for orthonormal columns Q.

        L + I differs from I only in their span, where it is T + I. Its symmetric part is at least I, so that
        nothing is lost in solving with it: |(T + I)^-1| <= 1.
        """
        if self._whole:
            Q, T = self._Z, self._C
        else:
            Q, R = linalg.qr(self._Z, mode="economic", check_finite=False)
            T = R @ self._C @ R.T
        shifted = T + np.eye(len(T))
        sign, log_normalizer = np.linalg.slogdet(shifted)
        if sign <= 0 or log_normalizer < -1e-6:
            raise ValueError(
                f"det(L + I) must be at least 1, being 1 plus principal minors that are >= 0, but it is "
                f"{sign * np.exp(min(log_normalizer, 700.0)):.3g}: some minor of L is negative."
            )
        W = np.linalg.solve(shifted.T, T.T).T  # T (T + I)^-1
        return np.ascontiguousarray(Q), T, np.ascontiguousarray(W), max(float(log_normalizer), 0.0)

    # Probabilities

    @property
    def log_normalizer(self) -> float:
        """log det(L + I) >= 0, the sum over all subsets of equation (5)."""
        return self._marginal[3]

    def _log_prob(self, Y: IntArray) -> float:
        return self._operand.logdet(Y) - self.log_normalizer

    def _log_probs(self, subsets: Subsets) -> FloatArray:
        return self._operand.logdets(subsets.indptr, subsets.indices) - self.log_normalizer

    _log_minor = staticmethod(log_minor)
    _given = staticmethod(schur)

    def marginal_kernel(self, rows: Items, columns: Items) -> FloatArray:
        """The block K[rows, columns] of the marginal kernel K = L (L + I)^-1, which is not symmetric either."""
        Q, _, W, _ = self._marginal
        A, B = check_items(rows, self.n, "rows"), check_items(columns, self.n, "columns")
        return np.asarray(Q[A] @ W @ Q[B].T)

    @cached_property
    def marginals(self) -> FloatArray:
        """P(i in Y) = K_ii for every item, equation (2)."""
        Q, _, W, _ = self._marginal
        return frozen(np.clip(np.einsum("ij,ij->i", Q @ W, Q), 0.0, 1.0))

    def condition(self, include: Items = (), exclude: Items = ()) -> Self:
        """The process of the remaining items, given that `include` is in Y and `exclude` is not, equation (10).

        L = Z C Z^T becomes the Schur complement of L_A, again of this form: C - C Z_A^T L_A^-1 Z_A C is 0 along the
        rows of A on both sides, so that as many columns fewer remain. `items` of the result tells what each item was
        called at the start.
        """
        A, excluded, rest = check_remaining(self.n, include, exclude)
        Z, C, items = self._Z, self._C, self.items[rest]
        if A.size and self._operand.logdet(A) == -np.inf:
            if self.prob(A, excluded) == 0.0:
                raise impossible("include", A)
            raise ValueError(
                f"Given include={A.tolist()}, an item that it needs is sure to be there, so that what remains has no "
                "likelihood kernel. Include that item too, or use conditional_marginals, which needs none."
            )
        if self._whole:
            return self._of(None, self._given(C, rest, A), items)
        if A.size == 0:
            return self._of(Z[rest], C, items)
        both = np.vstack([np.eye(len(C)), Z[A]])
        C = self._given(both @ C @ both.T, np.arange(len(C)), np.arange(len(C), len(both)))
        N = linalg.qr((Z[A] / row_lengths(Z[A])[:, None]).T, mode="full", check_finite=False)[0][:, A.size :]
        if N.shape[1] == 0:
            return self._of(np.zeros((rest.size, 1)), np.zeros((1, 1)), items)
        left = Z[rest] @ N
        left[row_lengths(left) <= rounding(len(C)) * row_lengths(Z[rest])] = 0.0
        return self._of(left, N.T @ C @ N, items)

    def conditional_marginals(self, include: Items = (), exclude: Items = ()) -> FloatArray:
        """P(i in Y | include in Y, exclude not in Y) for all n items; 1 and 0 for those given.

        K_ii - K_iS (K_S - 1_exclude)^-1 K_Si, where S is both: as elimination does, which needs no L.
        """
        A, B = check_disjoint(include, exclude, self.n)
        if self.prob(A, B) == 0.0:
            raise impossible("include", A)
        Q, _, W, _ = self._marginal
        S = np.concatenate([A, B])
        M = Q[S] @ W @ Q[S].T
        M[range(A.size, S.size), range(A.size, S.size)] -= 1.0
        change = np.einsum("is,si->i", Q @ (W @ Q[S].T), np.linalg.solve(M, (Q[S] @ W) @ Q.T))
        out = np.clip(self.marginals - change, 0.0, 1.0)
        out[A], out[B] = 1.0, 0.0
        return np.asarray(out)

    # Size

    @cached_property
    def _coins(self) -> ComplexArray:
        """Eigenvalues of K: E z^|Y| = det(I + (z - 1) K). Real ones are coins, conjugates two items each."""
        lam = linalg.eigvals(self._marginal[1], check_finite=False)
        return np.asarray(lam / (1 + lam))

    @property
    def expected_size(self) -> float:
        """E|Y| = trace(K)."""
        return float(self._coins.real.sum())

    @property
    def size_variance(self) -> float:
        """Var|Y| = trace(K - K^2)."""
        return float((self._coins * (1 - self._coins)).real.sum())

    @cached_property
    def size_pmf(self) -> FloatArray:
        """P(|Y| = k) for k = 0 ... n."""
        pmf = sum_of_pairs(self._coins)
        return frozen(np.append(pmf, np.zeros(self.n + 1 - pmf.size)))

    # Sampling

    def sample(self, size: int = 1, rng: Seed = None, *, method: str = "jumps", n_jobs: int | None = None) -> Subsets:
        """Draw independent subsets, exactly.

        Parameters
        ----------
        size : int
            How many; 0 gives no subsets.
        rng : int, numpy.random.Generator, SeedSequence, BitGenerator or None
            The same seed gives the same subsets, whatever `n_jobs`.
        method : {"jumps", "elimination"}
            "jumps" goes from one chosen item to the next: after O(n d^2) once, O(k^2 d^2) for a sample of k items,
            whatever n; what it prepares takes n d^2 / 32 numbers, up to 270 MB. "elimination"
            decides one item after the other, in O(n d^2) a sample.
        n_jobs : int, optional
            Threads; every core by default (None or -1).

        Returns
        -------
        Subsets
            A sequence of sorted index arrays.
        """
        size = check_int(size, "size")
        if method in ("spectral", "cholesky", "mcmc"):
            raise ValueError(f'method={method!r} needs a symmetric kernel. Use "jumps" or "elimination".')
        check_choice(method, "method", ("jumps", "elimination"))
        generator, jobs = check_rng(rng), check_jobs(n_jobs)
        if method == "jumps":
            return Subsets._of(*sample_jumps(self._jumps, size, generator, n_jobs=jobs), self.n)
        Q, _, W, _ = self._marginal
        return Subsets._of(*sample_elimination(Q, W, size, generator, n_jobs=jobs), self.n)

    @cached_property
    def _jumps(self) -> Jumps:
        return make_jumps(*self._marginal[:2])
