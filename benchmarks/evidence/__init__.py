"""What learning brings on real data, and where it does not: six studies and the page that they write.

    python -m benchmarks evidence --data ../shared/data [--only NAME ...]

Each study is a module with `run(data, pictures, quick) -> dict`: its question, data, protocol, answer and tables, as
`benchmarks.evidence.page` writes them. A finished study is kept in `results/evidence/NAME.json` and not run again
unless it is named; a study that fails says why, and the others go on.
"""
