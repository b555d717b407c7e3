"""What may become of a file between the run that wrote it and the one that reads it."""

import numpy as np

DAMAGES = {
    "cut": lambda data: data[: len(data) // 2],
    "emptied": lambda _: b"",
    "garbage": lambda data: np.random.default_rng(0).bytes(len(data)),
    "changed": lambda data: data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 1]) + data[len(data) // 3 + 1 :],
    "older": lambda data: data[: data.rindex(b"\n", 0, -3)],  # of a version that wrote no seal
}
