"""Documents, sentences, clusters, words, and the example."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpplearn.summarize import Cluster, Document, words
from dpplearn.summarize.text.blocks import find_blocks
from dpplearn.summarize.text.dates import dateline_end
from dpplearn.summarize.text.words import one_line


def covered(cluster, sentence):
    return cluster.documents[sentence.document].text[sentence.start : sentence.end]


def test_sentences_can_be_highlighted_in_their_sources():
    cluster = Cluster([Document("a", "One  fish\nswam. Two left."), Document("b", "Title\n\nThree\x07 left.")])
    sentences = cluster.sentences()
    assert [(s.document, s.position, s.text) for s in sentences] == [
        (0, 1, "One fish swam."),
        (0, 2, "Two left."),
        (1, 1, "Three left."),
    ]
    assert [one_line(covered(cluster, sentence)) for sentence in sentences] == [s.text for s in sentences]


@given(st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_any_text_can_be_highlighted(texts):
    cluster = Cluster.from_texts(texts)
    for sentence in cluster.sentences(keep_all=True):
        assert one_line(covered(cluster, sentence)) == sentence.text
        assert sentence.text.encode()
        assert "\n" not in sentence.text


@pytest.mark.parametrize(
    ("text", "story"),
    [
        ("WASHINGTON (AP) _ The bill died.", "The bill died."),
        ("(AP) _ The bill died.", "The bill died."),
        ("NEW YORK (AP) The bill died.", "The bill died."),
        ("BOSTON, Mass., Jan. 3 -- The bill died.", "The bill died."),
        ('RIO DE JANEIRO, Brazil, 12 March (Newsline) – "No," he said.', '"No," he said.'),
        ("\n  L'AQUILA, Italy — 12 people died.", "12 people died."),
    ],
)
def test_datelines_are_no_part_of_the_first_sentence(text, story):
    assert text[dateline_end(text) :] == story
    assert Cluster.from_texts([text]).sentences()[0].text == story


def test_a_cluster_checks_what_it_is_given():
    with pytest.raises(ValueError, match=r"documents of cluster storm must have different ids, but 'a' occurs twice"):
        Cluster([Document("a", ""), Document("a", "")], id="storm")
    with pytest.raises(TypeError, match=r"Cluster\.from_texts"):
        Cluster(["It rained."])
    with pytest.raises(TypeError, match="sequences"):
        Cluster("It rained.")
    with pytest.raises(TypeError, match=r"\[text\]"):
        Cluster.from_texts("It rained.")
    with pytest.raises(TypeError, match="reference must be a string"):
        Cluster([], references=[None])
    with pytest.raises(TypeError, match="text of a Document must be a string, found bytes"):
        Document("a", b"It rained.")
    with pytest.raises(TypeError, match="id of a Document must be a string, found int"):
        Document(1, "It rained.")
    with pytest.raises(ValueError, match="for each of its 1 references, found 2"):
        Cluster([], ["a"], reference_ids=["a", "b"])


def test_halves_of_surrogate_pairs_are_replaced():
    document = Document("a", "It \ud83d rained.")
    assert document.text == "It \ufffd rained."
    assert Cluster([document]).sentences()[0].end == 12


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("The Mayor's plan; the mayors’ PLAN", ["the", "mayor", "plan", "the", "mayors", "plan"]),
        ("don't O’Brien rock'n'roll 'quoted'", ["don't", "o'brien", "rock'n'roll", "quoted"]),
        ("state-of-the-art e-mail", ["state", "of", "the", "art", "e", "mail"]),
        ("1,200 1,200,000.5 3.5 3,5 2004. 20th", ["1200", "1200000.5", "3.5", "3,5", "2004", "20th"]),
        ("U.S. U.N.'s a.m. Ph.D. end.Next", ["u.s", "u.n", "a.m", "ph", "d", "end", "next"]),
        ("snake_case $5 50% #tag @me", ["snake", "case", "5", "50", "tag", "me"]),
        ("Ärger ÉCOLE e\u0301cole", ["ärger", "école", "école"]),
        ("\x07be\u00adll\u200b \ufeffof", ["bell", "of"]),
        ("हिन्दी में।", ["हिन्दी", "में"]),
        ("שָׁלוֹם, العَرَبِيَّة؟", ["שָׁלוֹם", "العَرَبِيَّة"]),
        ("大桥3.5亿", ["大", "桥", "3.5", "亿"]),
        ("다리는 폐쇄", ["다리는", "폐쇄"]),
        ("ﬁre ２０", ["fire", "20"]),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_blocks_are_what_a_reader_made():
    parts = [("heading", "Rain\n in Oslo"), ("paragraph", " "), ("paragraph", "It rained. It stopped.")]
    document = Document.of_blocks("a", [*parts, ("code", "if x:\n    y"), ("item", "Boats sank.")])
    assert [document.text[b.start : b.end] for b in document.blocks] == [
        "Rain in Oslo", "It rained. It stopped.", "if x:\n    y", "Boats sank."
    ]  # fmt: skip
    assert [s.text for s in Cluster([document]).sentences()] == ["It rained.", "It stopped.", "Boats sank."]
    assert document != Document("a", document.text)
    assert pickle.loads(pickle.dumps(document)) == document
    assert "blocks" not in repr(document)
    with pytest.raises(ValueError, match="must be one of"):
        Document.of_blocks("a", [("sidebar", "x")])
    with pytest.raises(ValueError, match="in order"):
        Document("a", "It rained.", blocks=[(4, 8, "paragraph"), (2, 3, "item")])
    with pytest.raises(ValueError, match="within the text"):
        Document("a", "It", blocks=[(0, 8, "paragraph")])


def test_a_text_that_lost_its_blocks_is_read_as_what_it_was():
    kinds = ["heading", "paragraph", "item", "quotation", "row", "row"]
    made = Document.of_blocks("a", [(kind, f"This is one {kind} | of them.") for kind in kinds])
    assert tuple(find_blocks(made.text)) == made.blocks
