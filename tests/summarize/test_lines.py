"""The labelled lines are what their README says: two halves that share nothing, of many kinds and languages."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def rows(name):
    lines = (FOLDER / "lines" / f"{name}.tsv").read_text("utf-8").removesuffix("\n").split("\n")
    return [tuple(line.split("\t")) for line in lines]


@pytest.mark.parametrize("name", ["dev", "held"])
def test_lines_are_many_of_both_labels_and_many_languages(name):
    found = rows(name)
    assert {len(row) for row in found} == {3}
    assert {label for label, _, _ in found} == {"sentence", "fragment"}
    assert len({text for _, _, text in found}) == len(found) >= 330
    assert all(text == text.strip() for _, _, text in found)
    assert 0.45 <= sum(label == "sentence" for label, _, _ in found) / len(found) <= 0.55
    foreign = [kind.partition(":")[2] for _, kind, _ in found if ":" in kind]
    assert len(foreign) >= len(found) / 4
    assert set(foreign) >= {"fr", "es", "de", "cs", "el", "ru", "ar", "he", "hi", "zh", "ja", "ko", "th"}


def test_what_is_held_out_is_nowhere_else():
    dev, held = ({text.casefold() for _, _, text in rows(name)} for name in ("dev", "held"))
    assert not dev & held
    kinds = [{kind.partition(":")[0] for _, kind, _ in rows(name)} for name in ("dev", "held")]
    assert len(kinds[1] - kinds[0]) >= 10
    inputs = [path.read_text("utf-8").casefold() for path in (FOLDER / "inputs").rglob("*.*") if path.is_file()]
    assert [text for text in held if len(text) > 20 and any(text in source for source in inputs)] == []
