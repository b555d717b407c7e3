"""diversify and greedy_map for tensors: what is chosen is a tensor on their device.

The engine is that of `dpplearn.decoding.greedy`: on a device its products are torch's, and tensors on the CPU are read
as the arrays that they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn._precision import EPS, EPS32
from dpplearn.decoding.candidates import Candidates, Embedded, check_diversity, diversified, read_model
from dpplearn.decoding.embeddings import read_candidates, some, standardize
from dpplearn.decoding.gains import Gains, KernelGains, RowGains
from dpplearn.decoding.selection import DiverseSelection, Kept, Nearest, Selection
from dpplearn.dpp import DPP
from dpplearn.torch.likelihood import log_prob

ROWS = 2**17  # rows that are float64 at a time
HALF = (torch.float16, torch.bfloat16)


def host(x: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    if not isinstance(x, Tensor):
        return x
    x = x.detach()
    return (x.float() if x.dtype == torch.bfloat16 else x).cpu().numpy()


class TensorOps:
    """What `dpplearn.decoding.gains.ArrayOps` does, on a device."""

    start = 2**14  # items in a block: a device has time for many

    log = staticmethod(torch.log)
    where = staticmethod(lambda mask: torch.nonzero(mask).flatten())
    first = staticmethod(lambda mask: int(mask.int().argmax()))
    double = staticmethod(lambda x: x.double())
    host = staticmethod(host)
    smaller = staticmethod(torch.minimum)
    choose = staticmethod(torch.where)

    @staticmethod
    def put(x: FloatArray, like: Tensor) -> Tensor:
        return torch.as_tensor(x, device=like.device)

    @staticmethod
    def all_items(n: int, like: Tensor) -> Tensor:
        return torch.arange(n, device=like.device)

    @staticmethod
    def largest(x: Tensor, m: int) -> float:
        return float(torch.topk(x, m).values[-1])

    @staticmethod
    def precision(rows: Tensor) -> float:
        return EPS if rows.dtype == torch.float64 else EPS32

    @staticmethod
    def explained(rows: Tensor, U: Tensor) -> Tensor:
        """Half-precision rows meet u as u = high + low."""
        high = U.to(rows.dtype)
        W = torch.cat([high, (U - high.double()).to(rows.dtype)]) if rows.dtype in HALF else high
        W = torch.nn.functional.pad(W, (0, 0, 0, -len(W) % 8)).mT.contiguous()  # columns that the library likes
        X = rows @ W
        X = X.float() if rows.dtype in HALF else X
        X = X[:, : len(U)] + X[:, len(U) : 2 * len(U)] if rows.dtype in HALF else X[:, : len(U)]
        return torch.linalg.vector_norm(X, dim=1).double()


@dataclass(frozen=True, eq=False)
class TensorCandidates(Candidates):
    """Candidates on a device: rows with qualities, or a kernel (n, n)."""

    model: Any  # Embedded, of tensors; or a kernel

    def gains(self, k: int) -> Gains | None:
        if isinstance(self.model, Tensor):
            return KernelGains(self.kernel, k, TensorOps)
        rows = self.embedded.operand(self.diversity, self.tilt, self.nugget)
        P = None if self.given is None else self.given.left(self.share)
        return RowGains(rows.rows, rows.scale, rows.diag, rows.own, k, P, TensorOps)

    @property
    def n(self) -> int:
        return len(self.model if isinstance(self.model, Tensor) else self.model.q)

    @cached_property
    def diag(self) -> FloatArray:
        rows = self.kernel.diagonal() if isinstance(self.model, Tensor) else self.embedded.operand(self.diversity).diag
        return np.asarray(host(rows.double()))

    def on_host(self) -> Candidates:
        embedded = Embedded(*(host(x) for x in self.embedded))
        return Candidates(embedded, self.diversity, self.tilt, self.nugget, self.given, self.near)

    @cached_property
    def kernel(self) -> Tensor:
        """L(d)."""
        L: Tensor = self.model.double()
        if self.diversity == 0.5:
            return L
        return torch.as_tensor(diversified(host(L), self.diversity), device=L.device)

    def log_prob(self, subset: IntArray) -> float:
        """log P(Y) under the model as it was given; of rows from the d x d matrix."""
        if isinstance(self.model, Tensor):
            Y = torch.as_tensor(np.array(subset), device=self.model.device)
            mask = torch.zeros(self.n, dtype=torch.bool, device=Y.device).index_fill_(0, Y, True)
            return float(log_prob(self.model.double(), mask))
        rows = self.embedded.operand(nugget=self.nugget)
        Y = torch.as_tensor(np.array(subset), device=rows.diag.device)
        C = torch.eye(rows.rows.shape[1], dtype=torch.float64, device=Y.device)
        scale = rows.scale / torch.sqrt(1.0 + rows.own)
        for low in range(0, self.n, ROWS):
            part = slice(low, low + ROWS)
            B = scale[part].unsqueeze(-1) * rows.rows[part].double()
            C += B.mT @ B
        B = rows.scale[Y].unsqueeze(-1) * rows.rows[Y].double()
        sign, value = torch.linalg.slogdet((B @ B.mT).diagonal_scatter(rows.diag[Y]))
        log_z = torch.linalg.slogdet(C)[1] + torch.log1p(rows.own).sum()
        return float(value - log_z) if float(sign) > 0 else -np.inf


class OnDevice:
    """A selection whose subset and gains are tensors."""

    subset: Any
    gains: Any

    def __post_init__(self) -> None:
        """Tensors cannot be made read-only."""

    @cached_property
    def sorted_subset(self) -> Any:
        """The items, ascending."""
        return self.subset.sort().values

    @cached_property
    def log_prob(self) -> float:
        """log P(subset) under the model as it was given."""
        return float(self.log_prob_of(host(self.sorted_subset)))  # type: ignore[attr-defined]  # set where one is made

    def __len__(self) -> int:
        return len(self.subset)


class TensorSelection(OnDevice, Selection):
    """What `greedy_map` chose of tensors."""


class TensorDiverseSelection(OnDevice, DiverseSelection):
    """What `diversify` chose of tensors: subset, gains and nearest are tensors on their device."""

    @cached_property
    def nearest(self) -> Any:
        """The chosen item most similar to each candidate."""
        return self._nearest(None)

    @cached_property
    def kept(self) -> Any:
        """Every chosen item, with the other chosen one most similar to it."""
        return self.numpy().kept

    @cached_property
    def skipped(self) -> Any:
        """Every candidate that was not chosen, with the reason."""
        return self.numpy().skipped

    def numpy(self) -> DiverseSelection:
        """The same with arrays, and without the embeddings."""
        plain = DiverseSelection(
            host(self.subset), self.cost, host(self.gains), self.reason, self.log_prob_of, self.diversity,
            self.parameters, self.limits, None,
        )  # fmt: skip
        items, similarity = self._nearest(self.subset)
        kept = zip(host(self.subset).tolist(), items.tolist(), similarity.tolist(), strict=True)
        plain.__dict__["nearest"] = Nearest(*(host(x) for x in self.nearest))
        plain.__dict__["kept"] = [Kept(*one) for one in kept]
        return plain

    def _nearest(self, among: Any) -> Nearest:
        model: Any = self.candidates
        all_rows, all_lengths = (torch.as_tensor(x, device=self.subset.device) for x in (model.rows, model.lengths))
        rows = all_rows if among is None else all_rows[among]
        lengths = (all_lengths if among is None else all_lengths[among]).clamp(min=1e-300)
        n, subset = len(rows), self.subset
        items = torch.full((n,), -1, device=rows.device)
        similarity = torch.zeros(n, dtype=torch.float64, device=rows.device)
        if len(subset) > (among is not None):
            kind = torch.float64 if rows.dtype == torch.float64 else torch.float32
            chosen = (all_rows[subset].double() / all_lengths[subset].clamp(min=1e-300).unsqueeze(-1)).to(kind)
            for low in range(0, n, step := max(1, 2**26 // (len(subset) + rows.shape[1]))):
                part = slice(low, low + step)
                cosines = rows[part].to(kind) @ chosen.mT
                if among is not None:
                    cosines[among[part].unsqueeze(-1) == subset] = -torch.inf
                best = cosines.max(-1)
                items[part] = subset[best.indices]
                similarity[part] = (best.values.double() / lengths[part]).clamp(-1.0, 1.0)
        return Nearest(items, similarity)


def read_tensors(embeddings: Any, scores: Any, decoder: str) -> tuple[Any, Any, Any, type[Candidates]]:
    """Rows, their lengths and standardized scores, where they are to be read: on a device only by greedy choice."""
    device = device_of(embeddings, scores)
    if device.type == "cpu" or decoder != "greedy":
        return *read_candidates(host(embeddings), host(scores)), Candidates
    E = torch.as_tensor(embeddings, device=device).detach()
    rows, lengths = read_rows(E if E.is_floating_point() else E.double(), "embeddings")
    if scores is None:
        return rows, lengths, torch.zeros(len(rows), dtype=torch.float64, device=device), TensorCandidates
    s = torch.as_tensor(scores, device=device).detach()
    s = s.squeeze(-1) if s.ndim == 2 and s.shape[1] == 1 else s
    if s.shape != lengths.shape:
        raise ValueError(
            "embeddings and scores must have one row and one entry per item: found shapes "
            f"{tuple(E.shape)} and {tuple(s.shape)}."
        )
    bad = host(torch.nonzero(~torch.isfinite(s)).flatten())
    if bad.size:
        raise ValueError(f"scores must be finite, but those of rows {some(bad)} are not.")
    eps = torch.finfo(s.dtype).eps if s.is_floating_point() else EPS
    return rows, lengths, standardize(s.double(), eps), TensorCandidates


def device_of(*values: Any) -> torch.device:
    """The device of the first tensor."""
    return next(x.device for x in values if isinstance(x, Tensor))


def read_rows(rows: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """Rows and their lengths."""
    if rows.ndim != 2 or 0 in rows.shape or not rows.is_floating_point():
        raise ValueError(
            f"{name} must be floating-point rows, one for each item, found {rows.dtype} {tuple(rows.shape)}."
        )
    kind = torch.float32 if rows.dtype in HALF else torch.float64
    lengths = torch.cat([torch.linalg.vector_norm(part, dim=1, dtype=kind) for part in rows.split(2**20)]).double()
    if not bool(((lengths >= 1e-20) & (lengths <= 1e20)).all()):
        rows = balanced(rows, lengths)
        lengths = torch.linalg.vector_norm(rows, dim=1, dtype=kind).double()
    bad = host(torch.nonzero(~torch.isfinite(lengths)).flatten())
    if bad.size:
        raise ValueError(f"{name} must be finite, but rows {some(bad)} are not.")
    return rows, lengths


def balanced(rows: Tensor, lengths: Tensor) -> Tensor:
    """`dpplearn._checks.balanced` for tensors: rows beyond 1e-20 to 1e20 times a power of 2, in the same directions."""
    odd = torch.nonzero(~((lengths >= 1e-20) & (lengths <= 1e20))).flatten()
    top = rows[odd].double().abs().amax(1)
    odd, top = odd[(top > 0.0) & torch.isfinite(top)], top[(top > 0.0) & torch.isfinite(top)]
    exponents = -torch.frexp(top).exponent.unsqueeze(-1)
    half = exponents // 2  # 2^1074 is no float
    scaled = rows[odd].double() * torch.exp2(half.double()) * torch.exp2((exponents - half).double())
    return rows.index_copy(0, odd, scaled.to(rows.dtype)) if odd.numel() else rows


def read_tensor_model(model: Any, diversity: float, nugget: float) -> Candidates:
    """The candidates of `greedy_map` from a kernel (n, n) or (q, phi) that are tensors."""
    if isinstance(model, Tensor) and (model.ndim != 2 or model.shape[0] != model.shape[1]):
        raise ValueError(
            f"a kernel must have shape (n, n), found {tuple(model.shape)}. For batches: dpplearn.torch.greedy_map."
        )
    parts = (model,) if isinstance(model, Tensor) else model
    device = device_of(*parts)
    if device.type == "cpu" or nugget:
        arrays = tuple(host(x) for x in parts)
        return read_model(DPP(arrays[0]) if len(arrays) == 1 else arrays, diversity, nugget=nugget)
    d = check_diversity(diversity)
    if len(parts) == 1:
        return TensorCandidates(model.detach(), d)
    q, phi = model
    rows, lengths = read_rows(phi.detach(), "phi")
    q = torch.as_tensor(q, dtype=torch.float64, device=device).detach()
    if q.shape != lengths.shape or not bool(((q >= 0.0) & (q < 1e150)).all()):
        raise ValueError(f"q must have {len(rows)} entries, none negative and none beyond 1e150.")
    if bool((lengths <= 0.0).any()):
        raise ValueError(
            f"phi must have no zero row, because a direction is needed; row {int(lengths.argmin())} is zero."
        )
    return TensorCandidates(Embedded(rows, lengths, q), d)


def on_device(selection: Any, *values: Any) -> Any:
    """A selection with its arrays as tensors, on the device of the first tensor among these."""
    device = device_of(*values)
    subset, gains = (torch.as_tensor(np.array(x), device=device) for x in (selection.subset, selection.gains))
    plain = (subset, selection.cost, gains, selection.reason, selection.log_prob_of)
    if not isinstance(selection, DiverseSelection):
        return TensorSelection(*plain)
    more = (selection.diversity, selection.parameters, selection.limits, selection.candidates)
    return TensorDiverseSelection(*plain, *more)
