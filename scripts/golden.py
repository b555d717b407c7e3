"""Writes tests/summarize/inputs/summaries.md anew: `python scripts/golden.py`. Read the diff before you commit it."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from golden_summaries import PAGE, input_path, page, specs, summarize


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        summaries = {
            (name, options): summarize(input_path(name, Path(folder)), options)
            for name, spec in specs().items()
            for options in spec["runs"]
        }
    PAGE.write_text(page(summaries), "utf-8", newline="\n")
    print(f"Wrote {len(summaries)} summaries to {PAGE}.")


if __name__ == "__main__":
    main()
