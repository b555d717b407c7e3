"""Values that objects keep: computed once, and in several threads at once for several objects."""

import threading

from dpplearn._cached import cached_property


def test_a_value_is_computed_once_and_belongs_to_its_object():
    class Thing:
        def __init__(self, x):
            self.x, self.calls = x, 0

        @cached_property
        def double(self):
            """Twice x."""
            self.calls += 1
            return 2 * self.x

    one, two = Thing(1), Thing(2)
    assert (one.double, one.double, two.double) == (2, 2, 4)
    assert (one.calls, two.calls) == (1, 1)
    assert Thing.double.__doc__ == "Twice x."


def test_two_objects_compute_at_the_same_time():
    met = threading.Barrier(2)

    class Thing:
        @cached_property
        def value(self):
            return met.wait(60)  # nobody passes until both are here

    things = [Thing(), Thing()]
    threads = [threading.Thread(target=lambda thing=thing: thing.value) for thing in things]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {thing.value for thing in things} == {0, 1}
