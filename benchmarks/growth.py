"""Measures how the time of diversify grows with k and N, up to ten million rows, and the memory of Dask workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from benchmarks.million import clustered
from benchmarks.timing import ROOT, main, peak_memory
from dpplearn import diversify

D = 64
FIGURE = ROOT / "docs/assets/selection_growth.png"
STEP = 100_000  # rows made and written at once


def cpu_seconds(E: np.ndarray, scores: np.ndarray, k: int) -> float:
    """CPU seconds of the cheaper of two runs, because other work on the machine only adds time."""
    times = []
    for _ in range(2):
        start = process_time()
        assert len(diversify(E, scores, k)) == k
        times.append(process_time() - start)
    return min(times)


def parts(n: int, step: int = STEP) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """n rows around the same centers, with scores, in parts."""
    centers, _ = clustered(1000, D, seed=1)
    rng = np.random.default_rng(2)
    for low in range(0, n, step):
        size = min(step, n - low)
        E = rng.standard_normal((size, D), dtype=np.float32)
        E *= 0.7
        E += centers[rng.integers(0, len(centers), size)]
        yield E, rng.lognormal(0.0, 0.5, size)


def growth(folder: Path, sizes: list[int], counts: list[int]) -> tuple[list[list], list[list]]:
    """CPU seconds by N at k = 1,000, from a memory map, and by k at a tenth of the largest N."""
    largest = sizes[-1]
    E = np.lib.format.open_memmap(folder / "E.npy", "w+", np.float32, (largest, D))
    scores, low = np.empty(largest), 0
    for rows, s in parts(largest):
        E[low : low + len(s)], scores[low : low + len(s)] = rows, s
        low += len(s)
    E.flush()
    E = np.load(folder / "E.npy", mmap_mode="r")
    diversify(E[:3000], scores[:3000], 1000)  # compiles
    by_n = [[n, cpu_seconds(E[:n], scores[:n], 1000)] for n in sizes]
    n = largest // 10
    by_k = [[k, cpu_seconds(E[:n], scores[:n], k)] for k in counts]
    (folder / "E.npy").unlink()
    return by_n, by_k


def worker_memory(folder: Path, n: int, k: int, jobs: int = 2) -> dict:
    """The largest peak memory of a worker that chooses from Parquet, in GB."""
    import pyarrow as pa
    from distributed import Client, LocalCluster
    from pyarrow import parquet

    from dpplearn.cli.formats import read_items
    from dpplearn.decoding.dask import choose_in_parts
    from dpplearn.decoding.diversify import Settings

    path, scores = folder / "E.parquet", []
    writer = None
    for E, s in parts(n):
        column = pa.FixedSizeListArray.from_arrays(pa.array(E.ravel()), D)
        table = pa.table({"embedding": column, "score": s})
        writer = writer or parquet.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table)
        scores.append(s)
    writer.close()
    pieces, d = read_items(path).parts("embedding")
    settings = Settings()
    with (
        LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        subset = choose_in_parts(pieces, d, np.concatenate(scores), settings, {"k": k}, client=client)
        assert len(subset) == k
        peaks = client.run(peak_memory)
    path.unlink()
    size = n * D * 4 / 2**30
    case = f"N = {n:,}, D = {D}, k = {k:,} from {size:.1f} GiB of Parquet, {len(pieces)} parts: peak memory of a worker"
    return {"case": case, "value": max(peaks.values()) / 1e9, "unit": "GB", "target": "≤ 2"}


def draw(by_n: list[list], by_k: list[list]) -> None:
    """Draw both, on logarithmic axes."""
    from dpplearn.plots.figures import save
    from dpplearn.plots.style import BLUE, TWO_COLUMNS, new_figure, panel_title, style

    with style():
        figure, axes = new_figure(TWO_COLUMNS, 2.5, columns=2, sharey=True)
        for ax, points, letter, label in zip(axes, (by_k, by_n), "ab", ("items chosen $k$", "items $N$"), strict=True):
            x, y = np.array(points).T
            ax.plot(x, y, "o-", color=BLUE)
            slope = y[-1] * x / x[-1]
            ax.plot(x, slope, ":", color="#8A8A8A")
            ax.annotate("proportional", (x[1], slope[1]), (4, -9), textcoords="offset points", color="#5F5F5F")
            ax.set(xscale="log", yscale="log", xlabel=label)
            ax.grid()
            panel_title(ax, letter, f"growth with ${'k' if letter == 'a' else 'N'}$")
        axes[0].set_ylabel("CPU seconds")
        note = f"D = {D}, float32, from a memory map. (a) N = {by_n[-1][0] // 10:,}; (b) k = 1,000."
        figure.supxlabel(note, x=0.01, ha="left", fontsize=7, color="#5F5F5F")
    save(figure, FIGURE.stem, FIGURE.parent, ["png"], dpi=130)


def run(quick: bool = False) -> dict:
    sizes = [10**4, 10**5, 10**6] if quick else [10**4, 10**5, 10**6, 10**7]
    counts = [100, 1000, 10_000] if quick else [100, 1000, 10_000, 100_000]
    with TemporaryDirectory() as name:
        folder = Path(name)
        by_n, by_k = growth(folder, sizes, counts)
        figures = [worker_memory(folder, sizes[-1], counts[-1] // 10)]
    if not quick:
        draw(by_n, by_k)
    tables = [
        {"title": "k = 1,000, by N", "columns": ["N", "CPU seconds"], "rows": by_n},
        {"title": f"N = {sizes[-1] // 10:,}, by k", "columns": ["k", "CPU seconds"], "rows": by_k},
    ]
    notes = [
        f"Rows have D = {D} float32 numbers around a thousand centers and log-normal scores, read from a memory "
        "map. Times are those of the cheaper of two runs. docs/data-selection.md has the figure.",
        "The memory of a worker is the peak of its whole process, with the interpreter and libraries.",
    ]
    title = "Growth to ten million"
    return {"name": "growth", "title": title, "rows": [], "figures": figures, "tables": tables, "notes": notes}


if __name__ == "__main__":
    main(run)
