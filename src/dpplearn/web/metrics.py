"""Counts and times for Prometheus; nothing of what users send."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
Counts = Iterable[tuple[str, str, float]]


class Metrics(Collector):
    """Requests by method, route and status, how long they took by route, and counts that others keep.

    Parameters
    ----------
    counts : callable
        The others' counts now, as (name, help, value); those that only grow have a name that ends in _total.

    Examples
    --------
    >>> metrics = Metrics(lambda: [("dpplearn_clusters", "Clusters in memory.", 3)])
    >>> metrics.observe("GET", "/api/v1/health", 200, 0.004)
    >>> [line for line in metrics.text().splitlines() if line.startswith(("dpplearn_requests_total", "dpplearn_c"))]
    ['dpplearn_requests_total{method="GET",route="/api/v1/health",status="200"} 1.0', 'dpplearn_clusters 3.0']
    """

    def __init__(self, counts: Callable[[], Counts]) -> None:
        self.counts, self.registry = counts, CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("dpplearn_requests", "Requests answered.", labels, registry=self.registry)
        about = "Time from a request to its answer."
        self.seconds = Histogram("dpplearn_request_seconds", about, ("route",), buckets=BUCKETS, registry=self.registry)
        self.registry.register(self)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request. Routes are templates, so that their number is bounded."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def collect(self) -> Iterator[Metric]:
        for name, about, value in self.counts():
            yield (CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily)(name, about, value)

    def text(self) -> str:
        """The exposition format."""
        return generate_latest(self.registry).decode()
