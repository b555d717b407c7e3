"""diversify and greedy_map for tensors: the items stay on their device, and so does what is chosen.

What may be asked, how runs are compared and what is said of them is that of `dpplearn.decoding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpplearn._cached import cached_property
from dpplearn._checks import FloatArray, IntArray
from dpplearn._loops.records import Run
from dpplearn._precision import EPS
from dpplearn.decoding.asked import factor_of
from dpplearn.decoding.candidates import Candidates, some
from dpplearn.decoding.diversify import diversify as diversify_arrays
from dpplearn.decoding.diversity import check_diversity, diversified
from dpplearn.decoding.embeddings import standardize
from dpplearn.decoding.greedy import greedy_map as greedy_candidates
from dpplearn.decoding.limits import Limits, check_limits
from dpplearn.decoding.past_rank import choose
from dpplearn.decoding.selection import Selection
from dpplearn.decoding.skipped import DiverseSelection, Kept, Nearest
from dpplearn.torch.front import HALF, ROWS, DeviceRows, GreedyRun, KernelGains, RowGains, host
from dpplearn.torch.likelihood import log_prob


@dataclass(frozen=True, eq=False)
class DeviceCandidates(Candidates):
    """The candidates of a decoder, on a device; greedy_run is what the decoders of `dpplearn.decoding` ask for."""

    model: Any  # DeviceRows, or a kernel
    here = False

    @property
    def n(self) -> int:
        return len(self.diag)

    @cached_property
    def operand(self) -> Any:
        return None

    @cached_property
    def directed(self) -> Any:
        return self.model

    @cached_property
    def diag(self) -> FloatArray:
        diag = self.model.parts(self.diversity)[1] if isinstance(self.model, DeviceRows) else self.kernel.diagonal()
        return np.asarray(host(diag.double()))

    @cached_property
    def kernel(self) -> Tensor:
        """L(d)."""
        L: Tensor = self.model.detach()
        if self.diversity == 0.5:
            return L
        return torch.as_tensor(diversified(host(L.double()), self.diversity), device=L.device)

    def log_prob(self, subset: IntArray) -> float:
        """log P(Y) under the model as it was given; of rows from the d x d matrix."""
        Y = torch.as_tensor(np.array(subset), device=(self.model.rows if self._rows else self.model).device)
        if not self._rows:
            mask = torch.zeros(len(self.model), dtype=torch.bool, device=Y.device).index_fill_(0, Y, True)
            return float(log_prob(self.model.double(), mask))
        scale, diag, own = self.model.parts(0.5)
        rows = self.model.rows
        C = torch.eye(rows.shape[1], dtype=torch.float64, device=rows.device)
        for low in range(0, len(rows), ROWS // 8):
            part = slice(low, low + ROWS // 8)
            B = (scale[part] / torch.sqrt(1.0 + own[part])).unsqueeze(-1) * rows[part].double()
            C += B.mT @ B
        B = scale[Y].unsqueeze(-1) * rows[Y].double()
        L_Y = (B @ B.mT).diagonal_scatter(diag[Y])
        sign, value = torch.linalg.slogdet(L_Y)
        log_z = torch.linalg.slogdet(C)[1] + torch.log1p(own).sum()
        return float(value - log_z) if float(sign) > 0 else -np.inf

    @property
    def _rows(self) -> bool:
        return isinstance(self.model, DeviceRows)

    def greedy_run(self, limits: Limits, rule: int, power: float, floor: float) -> Run:
        """One greedy pass, as `dpplearn.decoding.greedy.greedy_run` makes it of arrays."""
        gains: Any = (
            RowGains(self.model, self.diversity, limits.k) if self._rows else KernelGains(self.kernel, limits.k)
        )
        return GreedyRun(gains, limits, rule, power, floor).run()


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

    @property
    def selection_scores(self) -> Any:
        """exp(gains)."""
        return self.gains.exp()

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
        rows = model.rows if among is None else model.rows[among]
        lengths = (model.lengths if among is None else model.lengths[among]).clamp(min=1e-300)
        n, subset = len(rows), self.subset
        items = torch.full((n,), -1, device=rows.device)
        similarity = torch.zeros(n, dtype=torch.float64, device=rows.device)
        if len(subset) > (among is not None):
            kind = torch.float64 if rows.dtype == torch.float64 else torch.float32
            chosen = (model.rows[subset].double() / model.lengths[subset].clamp(min=1e-300).unsqueeze(-1)).to(kind)
            for low in range(0, n, step := max(1, 2**26 // (len(subset) + rows.shape[1]))):
                part = slice(low, low + step)
                cosines = rows[part].to(kind) @ chosen.mT
                if among is not None:
                    cosines[among[part].unsqueeze(-1) == subset] = -torch.inf
                best = cosines.max(-1)
                items[part] = subset[best.indices]
                similarity[part] = (best.values.double() / lengths[part]).clamp(-1.0, 1.0)
        return Nearest(items, similarity)


def diversify(
    embeddings: Any, scores: Any, k: Any, budget: Any, cost: Any, d: float, method: str, strength: float, options: Any
) -> Any:
    """What `dpplearn.diversify` does with tensors, once it has checked the rest."""
    device = embeddings.device if isinstance(embeddings, Tensor) else scores.device
    options = {name: host(x) for name, x in options.items()}
    cost = host(cost)
    if method != "greedy" or len(scores) == 0:
        arrays = embeddings.float() if getattr(embeddings, "dtype", None) in HALF else embeddings
        found: Any = diversify_arrays(host(arrays), host(scores), k, budget, cost, d, method, scale=strength, **options)
        directed = found.candidates
        E = torch.as_tensor(np.asarray(directed.rows), device=device)
        model = DeviceRows(E, *(torch.as_tensor(x, device=device) for x in (directed.lengths, directed.q)))
        return on_device(found, device, TensorDiverseSelection, d, found.parameters, found.limits, model)
    E, s = torch.as_tensor(embeddings, device=device).detach(), torch.as_tensor(scores, device=device).detach()
    s = s.squeeze(-1) if s.ndim == 2 and s.shape[1] == 1 else s
    if s.ndim != 1 or E.ndim != 2 or len(E) != len(s):
        raise ValueError(
            "embeddings and scores must have one row and one entry per item: found shapes "
            f"{tuple(E.shape)} and {tuple(s.shape)}."
        )
    if not bool(torch.isfinite(s).all()):
        bad = torch.nonzero(~torch.isfinite(s)).flatten().cpu().numpy()
        raise ValueError(f"scores must be finite, but those of rows {some(bad)} are not.")
    eps = torch.finfo(s.dtype).eps if s.is_floating_point() else EPS
    rows, lengths = DeviceRows.read(E if E.is_floating_point() else E.double(), "embeddings")
    z = standardize(s.double(), eps)
    q = torch.exp(z * factor_of(z, strength, d)) * 2**0.5
    candidates = DeviceCandidates(DeviceRows(rows, lengths, q), min(d, 0.5))
    within = (*(options.get(name, ()) for name in ("include", "exclude")), options.get("exclusive"))
    limits = check_limits(len(s), cost, budget, k, *within)
    chosen = choose(candidates, limits, method, cost, budget, k, options)
    parameters = {"scale": strength, "method": method}
    return on_device(chosen, device, TensorDiverseSelection, d, parameters, limits, candidates.model)


def greedy_map(model: Any, cost: Any, budget: Any, diversity: float, **options: Any) -> Any:
    """What `dpplearn.decoding.greedy_map` does with a kernel (n, n) or (q, phi) that are tensors."""
    d = check_diversity(diversity)
    if isinstance(model, Tensor):
        if model.ndim != 2 or model.shape[0] != model.shape[1]:
            raise ValueError(
                f"a kernel must have shape (n, n), found {tuple(model.shape)}. For batches: dpplearn.torch.greedy_map."
            )
        candidates, device = DeviceCandidates(model, d), model.device
    else:
        q, phi = model
        device = phi.device
        rows, lengths = DeviceRows.read(phi.detach(), "phi")
        q = torch.as_tensor(q, dtype=torch.float64, device=device).detach()
        if q.shape != lengths.shape or not bool(((q >= 0.0) & (q < 1e150)).all()):
            raise ValueError(f"q must have {len(rows)} entries, none negative and none beyond 1e150.")
        if bool((lengths <= 0.0).any()):
            raise ValueError(
                f"phi must have no zero row, because a direction is needed; row {int(lengths.argmin())} is zero."
            )
        candidates = DeviceCandidates(DeviceRows(rows, lengths, q), d)
    options = {name: host(x) for name, x in options.items()}
    found = greedy_candidates(candidates, host(cost), budget, diversity=d, **options)
    return on_device(found, device, TensorSelection)


def on_device(found: Selection, device: torch.device, kind: Any, *more: Any) -> Any:
    """A selection with its arrays as tensors."""
    subset, gains = (torch.as_tensor(np.array(x), device=device) for x in (found.subset, found.gains))
    return kind(subset, found.cost, gains, found.reason, found.log_prob_of, *more)
