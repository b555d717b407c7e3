"""Tokens, stems and limits."""

import pytest

from dpplearn.rouge import stems as stems_module
from dpplearn.rouge import tokenize
from dpplearn.rouge.reading import Limit
from dpplearn.rouge.stems import Memory, irregular_forms, porter, stem

# From Porter's paper, one or more for each rule, and where ROUGE-1.5.5 departs from it in step 4.
PORTER = """caresses caress, ponies poni, cats cat, feed feed, agreed agre, plastered plaster, bled bled,
motoring motor, sing sing, conflated conflat, troubled troubl, sized size, hopping hop, tanned tan,
falling fall, hissing hiss, fizzed fizz, failing fail, filing file, happy happi, relational relat,
conditional condit, rational ration, valenci valenc, hesitanci hesit, digitizer digit, conformabli conform,
radicalli radic, differentli differ, vileli vile, analogousli analog, vietnamization vietnam,
predication predic, operator oper, feudalism feudal, decisiveness decis, hopefulness hope,
callousness callous, formaliti formal, sensitiviti sensit, sensibiliti sensibl, triplicate triplic,
formative form, formalize formal, electriciti electr, electrical electr, hopeful hope, goodness good,
revival reviv, allowance allow, inference infer, airliner airlin, gyroscopic gyroscop, adjustable adjust,
defensible defens, irritant irrit, replacement replac, adjustment adjust, dependent depend, adoption adopt,
communism commun, activate activ, angulariti angular, homologous homolog, effective effect, bowdlerize
bowdler, probate probat, rate rate, cease ceas, controll control, roll roll, departmental depart,
basement basem, fundamental fundam, yyyyed yyyi, 1980s 1980"""


def test_porter():
    pairs = [pair.split() for pair in PORTER.replace("\n", " ").split(", ")]
    assert [(word, porter(word)) for word, _ in pairs] == [tuple(pair) for pair in pairs]


def test_table_is_that_of_rouge():
    table = irregular_forms()
    assert len(table) == 5934
    assert not table.keys() & {"ashes", "cognosenti", "halfpence", "lisente", "morses", "staretsy"}


def test_memory_of_stems_is_bounded(monkeypatch):
    monkeypatch.setattr(stems_module, "REMEMBERED", 10)
    memory = Memory(stem)
    assert [memory[f"cats{i}"] for i in range(25)] == [stem(f"cats{i}") for i in range(25)]
    assert len(memory) <= 10
    long = "y" * 1_000_000  # takes time in proportion to its length, and no room
    assert len(memory[long]) == 1_000_000
    assert long not in memory


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        (Limit(n_bytes=7), [b"one two"]),  # reached, not exceeded: reading stops here
        (Limit(n_bytes=8), [b"one two", b"t"]),
        (Limit(n_bytes=100), [b"one two", b"three four"]),
        (Limit(n_words=2), [b"one two"]),
        (Limit(n_words=3), [b"one two", b"three"]),
        (Limit(), [b"one two", b"three four"]),
    ],
)
def test_limits(limit, kept):
    assert limit.cut(b"one two\n\nthree four\n") == kept


def test_byte_limit_of_lcs_starts_again_at_each_line():
    limit = Limit(n_bytes=4)
    assert limit.cut(b"abc\ndef\nghijk\nlmn", aligned=True) == [b"abc", b"def", b"ghij"]
    assert limit.cut(b"abc\ndef\nghijk\nlmn") == [b"abc", b"d"]


def test_unicode_words():
    unicode = {"tokenizer": "unicode"}
    assert tokenize("Straße STRASSE snake_case x2", **unicode) == ["strasse", "strasse", "snake", "case", "x2"]
    assert tokenize("हिन्दी में", **unicode) == ["हिन्दी", "में"]  # marks are part of the word
    assert tokenize("cafe\u0301", **unicode) == tokenize("café", **unicode) == ["café"]
    assert tokenize("Ελληνικά ΕΛΛΗΝΙΚΆ", **unicode) == ["ελληνικά"] * 2
    assert tokenize("東京はカタカナ", **unicode) == ["東", "京", "は", "カタカナ"]
