"""Studies of what learning gains on real data, and where it loses; they write docs/evidence.md.

    python -m benchmarks evidence --data ../shared/data [--only NAME ...]

Each study is a module with `run(data, pictures, quick) -> dict`, which returns its question, data, protocol, answer and
tables for `benchmarks.evidence.page`. A finished study is kept in `results/evidence/NAME.json`, and runs again only if
it is named. If a study fails, the page says why, and the other studies go on.
"""
