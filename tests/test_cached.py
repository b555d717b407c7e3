"""Values that objects keep: computed once, and in several threads at once for several objects."""

import threading

from dpplearn._cached import cached_property


def test_two_objects_compute_at_the_same_time():
    met = threading.Barrier(2)

    class Thing:
        @cached_property
        def value(self):
            return met.wait(300)  # nobody passes until both are here

    things = [Thing(), Thing()]
    threads = [threading.Thread(target=lambda thing=thing: thing.value) for thing in things]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {thing.value for thing in things} == {0, 1}
