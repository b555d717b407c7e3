"""diversify and greedy_map for tensors: what is chosen is a tensor on their device.

The engine is that of `dpplearn.decoding.engine`: on a device its products are torch's, and tensors on the CPU are read
as the arrays that they are.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpplearn._cached import cached_property
from dpplearn._checks import LONGEST, SHORTEST, FloatArray, IntArray
from dpplearn._precision import EPS, EPS32
from dpplearn.decoding.candidates import (
    Candidates,
    Embedded,
    Given,
    read_model,
    some,
)
from dpplearn.decoding.diversify import Settings, read_candidates
from dpplearn.decoding.limits import check_diversity, check_nugget
from dpplearn.decoding.scores import standardize
from dpplearn.decoding.selection import Nearest, Selection
from dpplearn.dpp import DPP

ON_HOST = ("cpu",)  # kinds of devices whose tensors are read as arrays
DEVICE_ROWS = 2**17  # rows that are float64 at a time
CELLS = 2**26  # cosines and entries of rows at a time
TF32 = 2.0**-11  # rounding of products of float32, where torch was told to hurry


def host(x: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    if not isinstance(x, Tensor):
        return x
    x = x.detach()
    return (x.float() if x.dtype == torch.bfloat16 else x).cpu().numpy()


def product_type(rows: Tensor) -> torch.dtype:
    """In which products with rows are made: half precision as single."""
    return torch.float64 if rows.dtype == torch.float64 else torch.float32


class TensorOps:
    """What `dpplearn.decoding.engine.ArrayOps` does, on a device."""

    start = 2**14  # items in a block: a device has time for many

    log = staticmethod(torch.log)
    where = staticmethod(lambda mask: torch.nonzero(mask).flatten())
    most = staticmethod(torch.max)
    first = staticmethod(lambda mask: mask.int().argmax())
    dot = staticmethod(torch.matmul)
    multiply = staticmethod(torch.mul)
    wide = staticmethod(Tensor.double)
    at = staticmethod(lambda place, *tensors: torch.stack([x[place].double() for x in tensors]).tolist())
    order = staticmethod(lambda x: torch.argsort(x, stable=True))
    host = staticmethod(host)
    smaller = staticmethod(torch.minimum)
    choose = staticmethod(torch.where)
    put = staticmethod(lambda x, like: torch.tensor(x, device=like.device))
    largest = staticmethod(lambda x, m: float(torch.topk(x, m).values[-1]))

    @staticmethod
    def found(score: Tensor, place: Tensor, items: Tensor) -> tuple[float, int, int]:
        best, at, j = torch.stack([score, place.double(), items.take(place).double()]).tolist()
        return best, int(at), int(j)

    @staticmethod
    def precision(rows: Tensor) -> float:
        hurried = torch.get_float32_matmul_precision() != "highest"
        return EPS if rows.dtype == torch.float64 else TF32 if hurried else EPS32

    @staticmethod
    def explained(rows: Tensor, U: Tensor) -> Tensor:
        kind = product_type(rows)
        return torch.linalg.vector_norm(rows.to(kind) @ U.to(kind).mT, dim=1, dtype=torch.float64)


@dataclass(frozen=True, eq=False)
class TensorCandidates(Candidates):
    """Candidates on a device: rows with qualities."""

    xp = TensorOps

    @cached_property
    def diag(self) -> FloatArray:
        return np.asarray(host(self.operand.diag))

    def explained(self) -> FloatArray:
        return self.on_host().explained()

    def on_host(self) -> Candidates:
        given = None if self.given is None else Given(*map(host, self.given))
        return Candidates(Embedded(*map(host, self.embedded)), self.diversity, self.tilt, self.nugget, given)

    def log_prob(self, subset: IntArray) -> float:
        """log P(Y) under the model as it was given, from the d x d matrix."""
        rows = self.embedded.operand(nugget=self.nugget)
        Y = torch.tensor(subset, device=rows.diag.device)
        C = torch.eye(rows.rows.shape[1], dtype=torch.float64, device=Y.device)
        scale = rows.scale / torch.sqrt(1.0 + rows.own)
        for low in range(0, self.n, DEVICE_ROWS):
            part = slice(low, low + DEVICE_ROWS)
            B = scale[part].unsqueeze(-1) * rows.rows[part].double()
            C += B.mT @ B
        B = rows.scale[Y].unsqueeze(-1) * rows.rows[Y].double()
        sign, value = torch.linalg.slogdet((B @ B.mT).diagonal_scatter(rows.diag[Y]))
        log_z = torch.linalg.slogdet(C)[1] + torch.log1p(rows.own).sum()
        return float(value - log_z) if float(sign) > 0 else -np.inf


class OnDevice:
    """A selection whose subset, gains, shares and nearest items are tensors; all else is as in that of arrays."""

    def __init__(self, plain: Selection, device: torch.device) -> None:
        self.plain, self.device = plain, device

    def numpy(self) -> Selection:
        """The same with arrays."""
        return self.plain

    def __getattr__(self, name: str) -> Any:
        if name in ("plain", "device") or name.startswith("__"):  # what a copy asks before it has any
            raise AttributeError(name)
        value = getattr(self.plain, name)
        if isinstance(value, Nearest):
            return Nearest(*(torch.tensor(x, device=self.device) for x in value))
        return torch.tensor(value, device=self.device) if isinstance(value, np.ndarray) else value

    def __len__(self) -> int:
        return len(self.plain)

    def __repr__(self) -> str:
        return repr(self.plain)

    def __getstate__(self) -> dict[str, Any]:
        """Copies and other processes get what was found, not the embeddings."""
        return {"plain": copy(self.plain), "device": self.device}


def on_device(selection: Selection, *values: Any) -> OnDevice:
    """A selection with its arrays as tensors, on the device of the first tensor among these."""
    return OnDevice(selection, device_of(*values))


def nearest(candidates: Embedded, subset: IntArray, themselves: bool) -> Nearest:
    """What the function of this name in `dpplearn.decoding.selection` finds, of rows on a device."""
    rows: Any = candidates.rows
    Y, kind = torch.tensor(subset, device=rows.device), product_type(rows)
    lengths: Any = torch.where(torch.as_tensor(candidates.lengths) > 0.0, candidates.lengths, 1.0)
    chosen = (rows[Y].double() / lengths[Y].unsqueeze(-1)).to(kind)
    rows, lengths = (rows[Y], lengths[Y]) if themselves else (rows, lengths)
    items, similarity = np.full(len(rows), -1), np.zeros(len(rows))
    step = max(1, CELLS // (len(Y) + rows.shape[1]))
    for low in range(0, len(rows) if len(Y) > themselves else 0, step):
        part = slice(low, low + step)
        cosines = rows[part].to(kind) @ chosen.mT
        if themselves:
            cosines[Y[part].unsqueeze(-1) == Y] = -torch.inf
        best = cosines.max(-1)
        items[part] = host(Y[best.indices])
        similarity[part] = host((best.values / lengths[part]).clamp(-1.0, 1.0))
    return Nearest(items, similarity)


def device_of(*values: Any) -> torch.device:
    """The device of the first tensor."""
    return next(x.device for x in values if isinstance(x, Tensor))


def read_tensors(embeddings: Any, scores: Any, settings: Settings) -> tuple[Any, Any, Any, type[Candidates]]:
    """Rows, their lengths and standardized scores, where they are to be read: on a device only by greedy choice."""
    device = device_of(embeddings, scores)
    if device.type in ON_HOST or settings.decoder != "greedy" or len(embeddings) == 0:
        return *read_candidates(host(embeddings), host(scores), settings.diversity == 0.0), Candidates
    E = torch.as_tensor(embeddings, device=device).detach()
    rows, lengths = read_device_rows(E if E.is_floating_point() else E.double(), "embeddings")
    if scores is None:
        return rows, lengths, torch.zeros_like(lengths), TensorCandidates
    s = torch.as_tensor(scores, device=device).detach()
    s = s.squeeze(-1) if s.ndim == 2 and s.shape[1] == 1 else s
    if s.shape != lengths.shape:
        raise ValueError(
            "embeddings and scores must have one row and one entry per item: found shapes "
            f"{tuple(E.shape)} and {tuple(s.shape)}."
        )
    bad = torch.nonzero(~torch.isfinite(s)).flatten()
    if len(bad):
        raise ValueError(f"scores must be finite, but those of rows {some(host(bad))} are not.")
    eps = torch.finfo(s.dtype).eps if s.is_floating_point() else EPS
    return rows, lengths, standardize(s.double(), eps, settings.diversity == 0.0), TensorCandidates


def read_device_rows(rows: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """Rows and their lengths; those too long or short for squares times a power of 2, in the same directions."""
    if rows.ndim != 2 or 0 in rows.shape or not rows.is_floating_point():
        raise ValueError(
            f"{name} must be floating-point rows, one for each item, found {rows.dtype} {tuple(rows.shape)}."
        )
    lengths = lengths_of(rows)
    odd = torch.nonzero(~((lengths >= SHORTEST) & (lengths <= LONGEST))).flatten()
    if len(odd):
        top = rows[odd].double().abs().amax(1)
        odd, top = (x[(top > 0.0) & torch.isfinite(top)] for x in (odd, top))
        exponents = -torch.frexp(top).exponent.unsqueeze(-1)
        half = exponents // 2  # 2^1074 is no float
        scaled = rows[odd].double() * torch.exp2(half.double()) * torch.exp2((exponents - half).double())
        rows = rows.index_copy(0, odd, scaled.to(rows.dtype))
        lengths[odd] = lengths_of(rows[odd])
        bad = torch.nonzero(~torch.isfinite(lengths)).flatten()
        if len(bad):
            raise ValueError(f"{name} must be finite, but rows {some(host(bad))} are not.")
    return rows, lengths


def lengths_of(rows: Tensor) -> Tensor:
    """In parts; of half precision in single, whose rounding is less than that of the rows."""
    kind = product_type(rows)
    return torch.cat([torch.linalg.vector_norm(part, dim=1, dtype=kind) for part in rows.split(2**20)]).double()


def read_tensor_model(model: Any, diversity: float, nugget: float) -> Candidates:
    """The candidates of `greedy_map` from a kernel (n, n), which is read as an array, or (q, phi) that are tensors."""
    if isinstance(model, Tensor):
        if model.ndim != 2 or model.shape[0] != model.shape[1]:
            raise ValueError(
                f"a kernel must have shape (n, n), found {tuple(model.shape)}. For batches: dpplearn.torch.greedy_map."
            )
        return read_model(DPP(host(model)), diversity, nugget=nugget)
    device = device_of(*model)
    if device.type in ON_HOST:
        return read_model(tuple(map(host, model)), diversity, nugget=nugget)
    d, own = check_diversity(diversity), check_nugget(nugget)
    q, phi = (torch.as_tensor(x, device=device).detach() for x in model)
    rows, lengths = read_device_rows(phi, "phi")
    q = q.double()
    if q.shape != lengths.shape or not bool(((q >= 0.0) & (q < 1e150)).all()):
        raise ValueError(f"q must have {len(rows)} entries, none below 0 and none beyond 1e150.")
    if bool((lengths <= 0.0).any()):
        raise ValueError(
            f"phi must have no zero row, because a direction is needed; row {int(lengths.argmin())} is zero."
        )
    return TensorCandidates(Embedded(rows, lengths, q), d, nugget=own)
