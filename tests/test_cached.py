"""Values that objects keep: computed once, and in several threads at once for several objects."""

import threading
from concurrent.futures import ThreadPoolExecutor

from dpplearn._cached import cached_property


def test_two_objects_compute_at_the_same_time():
    met = threading.Barrier(2)

    class Thing:
        @cached_property
        def value(self):
            return met.wait(300)  # nobody passes until both are here

    with ThreadPoolExecutor(2) as pool:
        assert set(pool.map(lambda thing: thing.value, [Thing(), Thing()])) == {0, 1}
