"""DPPs in PyTorch: batched, differentiable, on any device. `pip install dpplearn[torch]`."""

try:
    import torch  # noqa: F401  # here, to raise a helpful error
except ImportError as error:
    raise ImportError(f"dpplearn.torch needs PyTorch ({error}): pip install 'dpplearn[torch]'.") from None

from dpplearn.torch.distribution import DPPDistribution, greedy_map, sample
from dpplearn.torch.likelihood import log_prob, log_prob_low_rank, log_prob_quality, marginals, subset_masks
from dpplearn.torch.loss import DPPLoss
from dpplearn.torch.sized import kdpp_log_prob

__all__ = [
    "DPPDistribution",
    "DPPLoss",
    "greedy_map",
    "kdpp_log_prob",
    "log_prob",
    "log_prob_low_rank",
    "log_prob_quality",
    "marginals",
    "sample",
    "subset_masks",
]
