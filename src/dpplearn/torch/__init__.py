"""DPPs in PyTorch: batched, differentiable, on any device. `pip install dpplearn[torch]`."""

try:
    import torch  # noqa: F401  # to say what is missing
except ImportError as error:
    raise ImportError(f"dpplearn.torch needs PyTorch ({error}): pip install 'dpplearn[torch]'.") from None

from dpplearn.torch.distribution import DPPDistribution
from dpplearn.torch.greedy import Chosen, greedy_map
from dpplearn.torch.likelihood import (
    log_prob,
    log_prob_low_rank,
    log_prob_quality,
    marginal_kernel,
    marginals,
    subset_masks,
)
from dpplearn.torch.loss import DPPLoss, cosines
from dpplearn.torch.sampling import sample
from dpplearn.torch.sized import kdpp_log_prob, kdpp_marginals

__all__ = [
    "Chosen",
    "DPPDistribution",
    "DPPLoss",
    "cosines",
    "greedy_map",
    "kdpp_log_prob",
    "kdpp_marginals",
    "log_prob",
    "log_prob_low_rank",
    "log_prob_quality",
    "marginal_kernel",
    "marginals",
    "sample",
    "subset_masks",
]
