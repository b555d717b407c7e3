"""Batches sized from the memory that is free; where that was too much, half as large ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

T = TypeVar("T")
SHARE = 0.5  # of what is free, for the work on one batch
CACHE = 2**27  # bytes of work at a time on a CPU, whose memory is shared with everyone


def free_bytes(device: torch.device) -> int:
    """What can be allocated on a device: what the driver has free, and what torch keeps but does not use."""
    if device.type != "cuda":
        return CACHE
    free, _ = torch.cuda.mem_get_info(device)
    return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))


def in_batches(count: int, each: int, device: torch.device, call: Callable[[int, int], T]) -> list[T]:
    """call(low, high) for ranges that cover 0 ... count, of as many as fit where one takes `each` bytes.

    An out-of-memory error halves the batch, and the same range is tried again.
    """
    size = max(1, min(count, int(SHARE * free_bytes(device)) // max(each, 1)))
    out: list[T] = []
    low = 0
    while low < count:
        try:
            out.append(call(low, min(low + size, count)))
            low += size
            continue
        except torch.OutOfMemoryError:
            if size == 1:
                raise
        size = max(1, size // 2)  # outside of the except, whose traceback holds the tensors of the call
        if device.type == "cuda":
            torch.cuda.empty_cache()
    return out
