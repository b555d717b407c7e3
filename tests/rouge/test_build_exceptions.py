"""The script that builds the table of irregular forms."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_exceptions.py"


def test_later_lines_replace_earlier_ones_and_some_keys_stay_out(tmp_path):
    spec = importlib.util.spec_from_file_location("build_exceptions", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    lists = {
        "adj": "best good\nbetter good well\n",
        "adv": "best well\n",
        "noun": "ashes ash\n",
        "verb": "went go\n",
    }
    for name, lines in lists.items():
        (tmp_path / f"{name}.exc").write_text(lines)
    assert script.read_exceptions(tmp_path) == {"best": "well", "better": "good", "went": "go"}
