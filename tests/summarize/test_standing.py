"""Sentences told from fragments, and those that stand alone from those that do not; summaries are made of these."""

from pathlib import Path

import pytest

from dpplearn.summarize import Cluster, Document, Summarizer
from dpplearn.summarize.text.fragments import is_furniture, is_sentence
from dpplearn.summarize.text.standing import Lack, leans, why_not_alone
from dpplearn.summarize.text.words import listed_language, word_lists

LINES = Path(__file__).parent / "lines"


def rows(name, yes):
    found = [line.split("\t", 2) for line in (LINES / name).read_text("utf-8").splitlines() if line.strip()]
    return [(label == yes, kind, text) for label, kind, text in found]


@pytest.mark.parametrize("name", ["dev.tsv held.tsv", "alone.tsv alone-held.tsv", "pairs.tsv pairs-held.tsv"])
def test_what_is_held_out_is_nowhere_else(name):
    dev, held = ({*(LINES / one).read_text("utf-8").casefold().splitlines()} for one in name.split())
    assert not dev & held


def precision_and_recall(labels, told):
    both = sum(a and b for a, b in zip(labels, told, strict=True))
    return both / sum(told), both / sum(labels)


@pytest.mark.parametrize(("name", "precision", "recall"), [("dev.tsv", 0.93, 0.96), ("held.tsv", 0.85, 0.9)])
def test_labelled_lines(name, precision, recall):
    labels, _, texts = zip(*rows(name, "sentence"), strict=True)
    assert len(labels) >= 400
    got = precision_and_recall(labels, [is_sentence(text) for text in texts])
    assert got[0] >= precision
    assert got[1] >= recall


def stands(text, kind):
    if not is_sentence(text):
        return False
    return why_not_alone(text, listed_language(kind.partition(":")[2] or "en")) is None


@pytest.mark.parametrize(("name", "least"), [("alone.tsv", 0.93), ("alone-held.tsv", 0.8), ("alone-fresh.tsv", 0.78)])
def test_lines_labelled_by_whether_they_stand_alone(name, least):
    labels, kinds, texts = zip(*rows(name, "alone"), strict=True)
    assert len(labels) >= 100
    assert min(precision_and_recall(labels, [*map(stands, texts, kinds)])) >= least


@pytest.mark.parametrize("frame", ["{} now", "“{}” – и всё", "{}"])
def test_what_pages_say_is_told_as_words(frame):
    for phrase in word_lists("sentence-words")["furniture"]:
        assert is_furniture(frame.format(phrase.upper()))
    assert not is_furniture("A redesign in Mostread, unlogged.")


def test_any_text_has_an_answer():
    for text in ("", " ", "a" * 100_000, ". " * 50_000, "[" * 9_000, "1 " * 3_000, "|", "\u0301", "\x00", "“" * 9_000):
        assert not is_sentence(text) or why_not_alone(text) in (None, *Lack)
        assert not why_not_alone(text, None) or isinstance(why_not_alone(text), Lack)


LEAN = {
    "English": [
        "He left the city.", "But the river rose.", "It was closed on Monday.", "The man was arrested.",
        "That surprised the mayor.", "Those systems fail.", "However, the bridge held.", "In addition, ten boats sank.",
        "The bridge was unsafe, he said.", '"We were lucky," she said.', '"It was dark and cold."',
        "In this case the parser fails.",
        "His lawyer declined to comment.",
        "It is a parser that was trained on news.", "So the match was called off.",
    ],
    "German": ["Er verließ die Stadt.", "Das ist neu.", "Dennoch hielt die Brücke.", "„Wir hatten Glück“, sagte er."],
    "French": ["Elle a quitté la ville.", "C'est nouveau.", "Mais le pont a tenu.", "Le pont tient, a-t-il ajouté."],
    "Spanish": ["Ella dejó la ciudad.", "Sin embargo, el puente resistió.", "Esto sorprendió al alcalde."],
    "Italian": ["Egli lasciò la città.", "Tuttavia il ponte ha retto.", "L'uomo è fuggito."],
    "Portuguese": ["Ele deixou a cidade.", "No entanto, a ponte resistiu.", "Isso surpreendeu o prefeito."],
    "Czech": ["Ten most vydržel.", "Proto zůstal zavřený.", "Kromě toho pršelo."],
    "Greek": ["Αυτός έφυγε.", "Ωστόσο, η γέφυρα άντεξε."],
    "Hebrew": ["הוא עזב את העיר.", "עם זאת, הגשר החזיק."],
    "Hindi": ["उन्होंने शहर छोड़ दिया।", "लेकिन पुल बच गया।"],
    "Arabic": ["هذا الجسر مغلق.", "ومع ذلك صمد الجسر."],
}  # fmt: skip
STAND = {
    "English": [
        "The river rose.", "This week the river rose.", "This paper presents a parser.",
        "In this paper we present one.",
        "So far ten boats sank.", "It is clear that the river rose.", "It was not known how many fled.",
        '"We were lucky," said Ada Lovelace.', "Ada Lovelace said that he had left.", "We describe a parser.",
        "There was no rain.", 'The screen measures 14" across.', "so the login page is done", "I left.", "",
        "When the storm came, officials said hello.", "Thatcher resigned.",
    ],
    "German": ["Das Haus ist neu.", "Es gibt Regen.", "Diese Woche regnete es.", '„Wir hatten Glück", sagte Ada.'],
    "French": ["Cette semaine, il pleut.", "Il faut partir.", "L'eau monte."],
    "Hebrew": ['ארה"ב הודיעה על סיוע.'],
    "Hindi": ["इस सप्ताह बारिश हुई।"],
    "Basque": ["But he left."],
}  # fmt: skip


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in LEAN.items() for text in texts])
def test_it_leans(language, text):
    assert leans(text, language)


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in STAND.items() for text in texts])
def test_it_stands(language, text):
    assert not leans(text, language)


def test_the_language_is_the_one_given_or_seen():
    german = [
        "Der Fluss ist in der Nacht über die Ufer getreten, und die Stadt wurde nicht mehr mit dem Zug erreicht. "
    ] * 4
    assert listed_language(None, german) == "German"
    assert listed_language("english", german) == "English"
    assert [listed_language(code, []) for code in ("pt_BR", "EL", "hindi", "czech")] == [
        "Portuguese", "Greek", "Hindi", "Czech"
    ]  # fmt: skip
    assert listed_language(None, ["पुल बंद है और नदी ऊपर है। " * 30]) == "Hindi"


WHY = {
    Lack.SHORT: ["Nobody was hurt.", "没有人受伤。"],
    Lack.QUESTION: ["What happened in October to the crew of the boat?", "第二艘船的船员后来究竟怎么样了呢?"],
    Lack.ANSWER: [
        "Yes, that works for me and for all the others.", "Thanks a lot for the plans that you sent us.",
        "morning all, are you back home yet?",
    ],
    Lack.INSTRUCTION: [
        "For more information, see the page of the council.",
        "Click on the map to see the closed roads.", "To install it, run this command in a shell.",
    ],
    Lack.ANNOUNCES: ["With this option the program writes one file for each:"],
    Lack.QUOTATION: [
        '"The situation is under control, and there is no danger at all," the spokesman said.',
        'The spokesman said that "the situation is now fully under control in the whole city".',
        'said that the plant would not reopen before the end of the year."',
    ],
    Lack.LEANS: [
        "The two were arrested at the border on Thursday.", "After the vote on Monday he left the town for good.",
        "The move came two days after the vote in the council.",
        "It is on the delivery notes that were sent last week.",
        "Lena Marsh was sworn in as president of Kelmark an hour later.",
        "The dead were a couple in their eighties from the town of Calder.",
        "The reason for this is that the bolts of the door were worn.",
        "Both men were taken to the hospital in the town of Lorne.", "Since then, ten boats have sunk in the harbour.",
    ],
    None: [
        "It is clear that the flood defences of the city were never finished.",
        "The mayor of Brenn said on Monday that he would resign.",
        "Jonas Obrecht, who collapsed in parliament, died three days later.",
        "The group of nine climbers was found alive on Sunday.",
        'The word "bank" has four senses in the dictionary of Lorne.',
        '"The pumps failed," said Daniel Okafor, the chief engineer of the waterworks.',
    ],
}  # fmt: skip


@pytest.mark.parametrize(("lack", "text"), [(lack, text) for lack, texts in WHY.items() for text in texts])
def test_why_a_sentence_does_not_stand_alone(lack, text):
    assert why_not_alone(text) is lack


STORM = """A storm hit the coast of Morvania on Friday night. It sank ten fishing boats in the harbour of Brenn.

But nobody was hurt. The mayor of Brenn promised help to the families of the fishermen. He named no sum.

Schools along the coast stay closed until Monday."""


@pytest.fixture(scope="module")
def model():
    return Summarizer.load()


@pytest.mark.parametrize("decoder", ["consensus", "greedy"])
def test_summaries_are_made_of_sentences_that_stand_alone(model, decoder):
    prepared = model.prepare(Cluster([Document("a", STORM), *Cluster.example().documents]))
    for budget in (15, 40, 80, 160):
        summary = model.summarize(prepared, budget, "words", decoder=decoder)
        assert prepared.split.alone[summary.subset].all()
        assert 0 < summary.length <= budget
        for left in summary.explain().best_left_out(None):
            assert (left.code == "not-alone") <= (not prepared.split.alone[left.number])
    leaning = int((~prepared.split.alone).nonzero()[0][0])
    assert leaning in model.summarize(prepared, 80, "words", include=[leaning], decoder=decoder).subset
    why = model.summarize(prepared, 80, "words", decoder=decoder).why(leaning)
    assert (why.code, why.reason) == ("not-alone", "leans on the sentence before it")


def test_others_are_chosen_where_nothing_else_is_there(model):
    texts = ["The river rose by a metre and a half on Monday. But the dam above the town of Brenn held. He left."]
    assert len(model.summarize(texts, 3, "sentences").sentences) == 3  # in sentences a budget is a number
    assert model.summarize(texts, 40, "words").text == "The river rose by a metre and a half on Monday."
    assert model.summarize(["But the dam held. He left."], 4, "words").text == "But the dam held."
