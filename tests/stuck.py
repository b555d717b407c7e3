"""Jobs for a process that reads what clients send, one as bad as the other."""

import os


def forever(*_):
    while True:
        pass


def broken(_):
    raise ValueError("secret words of a user")


def gone(_):
    os._exit(3)


def process_id(_):
    return os.getpid()
