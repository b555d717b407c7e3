"""What uploads leave in memory: nothing that an error holds."""

import gc
import weakref

from dpplearn.web.guard import forget


class Chunk:
    """A piece of a body."""


def refuse(_body):
    error = ValueError("too long")  # which its own frame holds, and so the frame itself
    raise error


def test_what_a_refused_request_held_is_freed_without_a_collector():
    gc.disable()
    try:
        for forgotten in (False, True):
            chunk = Chunk()
            gone = weakref.ref(chunk)
            try:
                refuse(chunk)
            except ValueError as error:
                if forgotten:
                    forget(error)
            del chunk
            assert (gone() is None) == forgotten
    finally:
        gc.enable()
        gc.collect()
