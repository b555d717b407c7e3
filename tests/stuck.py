"""Jobs for a process that reads what clients send, one as bad as the other."""


def forever(*_):
    while True:
        pass
