"""tests/summarize/inputs/summaries.md, written anew: `python scripts/golden.py`, to be read before it is committed."""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from golden_summaries import PAGE, input_path, page, specs, summarize


def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        found = {
            (name, options): summarize(input_path(name, Path(made)), options)
            for name, spec in specs().items()
            for options in spec["runs"]
        }
    PAGE.write_text(page(found), "utf-8", newline="\n")
    print(f"Wrote {len(found)} summaries to {PAGE}.")


if __name__ == "__main__":
    main()
