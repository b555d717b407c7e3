"""`diversify` and `greedy_map` for tensors; the chosen items are tensors on the same device.

`dpplearn.decoding.engine` does the work. On a device its products are those of torch; on the CPU tensors become arrays.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpplearn._cached import cached_property
from dpplearn._checks import LARGEST_QUALITY, LONGEST, SHORTEST, FloatArray, IntArray
from dpplearn._precision import EPS, EPS32
from dpplearn.decoding.candidates import Candidates, Embedded, Given, read_features, read_model
from dpplearn.decoding.diversify import Settings, read_items
from dpplearn.decoding.limits import check_diversity, check_nugget
from dpplearn.decoding.scores import qualities, standardize
from dpplearn.decoding.selection import Nearest, Selection
from dpplearn.dpp import DPP

ON_HOST = ("cpu",)  # kinds of devices whose tensors are used as arrays
TF32 = 2.0**-11  # rounding of float32 products if the user has set a lower precision in torch


def host(x: Any) -> Any:
    """A tensor as an array; anything else unchanged."""
    if not isinstance(x, Tensor):
        return x
    x = x.detach()
    return (x.float() if x.dtype == torch.bfloat16 else x).cpu().numpy()


def product_type(rows: Tensor) -> torch.dtype:
    """The type of products with rows; half precision is multiplied as single."""
    return torch.float64 if rows.dtype == torch.float64 else torch.float32


class TensorOps:
    """The operations of `dpplearn.decoding.engine.ArrayOps`, on a device."""

    start = 2**14  # items in a block; a device is fast enough for many

    log = staticmethod(torch.log)
    where = staticmethod(lambda mask: torch.nonzero(mask).flatten())
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
    def best(x: Tensor, items: Tensor, tie: float, one: float) -> tuple[float, int, int]:
        most = x.max()
        place = (x >= most - tie * (one + abs(most))).int().argmax()
        best, at, j = torch.stack([most, place.double(), items.take(place).double()]).tolist()
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
        """The same candidates in arrays."""
        given = None if self.given is None else Given(*map(host, self.given))
        embedded = Embedded(*read_features(host(self.embedded.rows)), host(self.embedded.q))
        return Candidates(embedded, self.diversity, self.tilt, self.nugget, given)

    def near_items(self) -> Candidates:
        return self.on_host().near_items()

    def log_prob(self, subset: IntArray) -> float:
        return self.on_host().log_prob(subset)


class OnDevice:
    """A selection whose arrays are tensors on the device of the first tensor of `values`."""

    def __init__(self, plain: Selection, *values: Any) -> None:
        self.plain, self.device = plain, device_of(*values)

    def numpy(self) -> Selection:
        """The same selection with arrays."""
        return self.plain

    def __getattr__(self, name: str) -> Any:
        if name in ("plain", "device") or name.startswith("__"):  # copying asks for these before they exist
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
        """Copies and other processes get the result, not the embeddings."""
        return {"plain": copy(self.plain), "device": self.device}


def device_of(*values: Any) -> torch.device:
    """The device of the first tensor."""
    return next(x.device for x in values if isinstance(x, Tensor))


def read_tensors(embeddings: Any, scores: Any, settings: Settings) -> tuple[Embedded, type[Candidates]]:
    """Items with their qualities; they stay on a device only for greedy choice, otherwise they become arrays."""
    device, ranked = device_of(embeddings, scores), settings.diversity == 0.0
    rows = device_rows(embeddings, device) if settings.decoder == "greedy" and len(embeddings) > 0 else None
    if rows is not None:
        E, lengths = rows
        s = torch.zeros_like(lengths) if scores is None else torch.as_tensor(scores, device=device).detach()
        s = s.squeeze(-1) if s.ndim == 2 and s.shape[1] == 1 else s
        if s.shape == lengths.shape and bool(torch.isfinite(s).all()):
            eps = torch.finfo(s.dtype).eps if s.is_floating_point() else EPS
            q = qualities(standardize(s.double(), eps, ranked), settings.scale, settings.diversity)
            return Embedded(E, lengths, q), TensorCandidates
    return read_items(host(embeddings), host(scores), settings), Candidates  # raises the errors about bad data


def device_rows(x: Any, device: torch.device) -> tuple[Tensor, Tensor] | None:
    """Rows on a device, and their lengths, or None if the host is to read them.

    That is so on the CPU, if a length or its square is out of range, or if something is wrong. Lengths of rows in half
    precision are computed in single precision, whose rounding is less than that of the rows.
    """
    if device.type in ON_HOST:
        return None
    rows = torch.as_tensor(x, device=device).detach()
    rows = rows if rows.is_floating_point() else rows.double()
    if rows.ndim != 2 or not rows.shape[1]:
        return None
    kind = product_type(rows)
    lengths = torch.cat([torch.linalg.vector_norm(part, dim=1, dtype=kind) for part in rows.split(2**20)]).double()
    fine = (lengths == 0.0) | ((lengths >= SHORTEST) & (lengths <= LONGEST))
    return (rows, lengths) if bool(fine.all()) else None


def read_tensor_model(model: Any, diversity: float, nugget: float) -> Candidates:
    """The candidates of `greedy_map` from a kernel (n, n), which becomes an array, or from tensors (q, phi)."""
    if isinstance(model, Tensor):
        if model.ndim != 2 or model.shape[0] != model.shape[1]:
            raise ValueError(
                f"a kernel must have shape (n, n), found {tuple(model.shape)}. For batches: dpplearn.torch.greedy_map."
            )
        return read_model(DPP(host(model)), diversity, nugget=nugget)
    device = device_of(*model)
    if (rows := device_rows(model[1], device)) is not None:
        phi, lengths = rows
        q = torch.as_tensor(model[0], device=device).detach().double()
        if q.shape == lengths.shape and bool(((q >= 0.0) & (q < LARGEST_QUALITY) & (lengths > 0.0)).all()):
            embedded = Embedded(phi, lengths, q)
            return TensorCandidates(embedded, check_diversity(diversity), nugget=check_nugget(nugget))
    return read_model(tuple(map(host, model)), diversity, nugget=nugget)  # raises the errors about bad data
