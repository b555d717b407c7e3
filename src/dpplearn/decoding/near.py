"""Placeholder until the kernel of near items is merged."""


def find_width(embedded, k):
    raise NotImplementedError
