"""Counts and times for Prometheus, as text; nothing of what users send."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
Label = tuple[str, ...]


class Metrics:
    """Requests by method, route and status, and how long they took by route.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.observe("GET", "/api/v1/health", 200, 0.004)
    >>> print(metrics.text([]).splitlines()[2])
    dpplearn_requests_total{method="GET",route="/api/v1/health",status="200"} 1
    """

    def __init__(self) -> None:
        self.requests: Counter[Label] = Counter()
        self.buckets: Counter[Label] = Counter()
        self.seconds: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request. Routes are templates, so that their number is bounded."""
        self.requests[method, route, str(status)] += 1
        self.counts[route] += 1
        self.seconds[route] += seconds  # type: ignore[assignment]  # a Counter of floats
        for bound in BUCKETS:
            if seconds <= bound:
                self.buckets[route, f"{bound:g}"] += 1

    def text(self, gauges: Iterable[tuple[str, str, str, float]]) -> str:
        """The exposition format; gauges are (name, type, help, value)."""
        lines = ["# HELP dpplearn_requests_total Requests answered.", "# TYPE dpplearn_requests_total counter"]
        for (method, route, status), count in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            lines.append(f"dpplearn_requests_total{{{labels}}} {count}")
        name = "dpplearn_request_seconds"
        lines += [f"# HELP {name} Time from a request to its answer.", f"# TYPE {name} histogram"]
        for route, count in sorted(self.counts.items()):
            for bound in BUCKETS:
                found = self.buckets[route, f"{bound:g}"]
                lines.append(f'{name}_bucket{{route="{route}",le="{bound:g}"}} {found}')
            lines.append(f'{name}_bucket{{route="{route}",le="+Inf"}} {count}')
            lines.append(f'{name}_sum{{route="{route}"}} {self.seconds[route]:.6f}')
            lines.append(f'{name}_count{{route="{route}"}} {count}')
        for gauge, kind, about, value in gauges:
            lines += [
                f"# HELP {gauge} {about}",
                f"# TYPE {gauge} {kind}",
                f"{gauge} {value}",
            ]  # every digit: counters are subtracted
        return "\n".join(lines) + "\n"
