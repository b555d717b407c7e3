"""Sentences that lean on the one before them: which do, and summaries without them or with what they lean on."""

import numpy as np
import pytest

from dpplearn.summarize import Cluster, Document, Summarizer
from dpplearn.summarize.model.choice import Choice
from dpplearn.summarize.model.context import choose_standing, loose
from dpplearn.summarize.model.split_cluster import split_cluster
from dpplearn.summarize.text.leaning import leaning_language, leans

LEAN = {
    "English": [
        "He left the city.", "But the river rose.", "It was closed on Monday.", "The man was arrested.",
        "That surprised the mayor.", "Those systems fail.", "However, the bridge held.", "In addition, ten boats sank.",
        "The bridge was unsafe, he said.", '"We were lucky," she said.', '"It was dark and cold."',
        'We do not have any reports of damage yet."', "In this case the parser fails.",
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
    assert leaning_language(None, german) == "German"
    assert leaning_language("english", german) == "English"
    assert [leaning_language(code, []) for code in ("pt_BR", "EL", "hindi", "czech")] == [
        "Portuguese", "Greek", "Hindi", "Czech"
    ]  # fmt: skip
    assert leaning_language(None, ["पुल बंद है और नदी ऊपर है। " * 30]) == "Hindi"


STORM = """A storm hit the coast of Morvania on Friday night. It sank ten fishing boats in the harbour of Brenn.

But nobody was hurt. The mayor of Brenn promised help to the families of the fishermen. He named no sum.

Schools along the coast stay closed until Monday."""


@pytest.fixture(scope="module")
def storm():
    return split_cluster(Cluster([Document("a", STORM), Document("b", "They left. Ships of the navy came to Brenn.")]))


def test_a_sentence_is_loose_without_the_one_before(storm):
    assert storm.leaning.tolist() == [False, True, True, False, True, False, True, False]
    assert loose(storm, np.array([1, 3, 4])).tolist() == [1]
    assert loose(storm, np.array([0, 1, 2, 6])).tolist() == [6]  # the first of the second document has none before it


def by_score(score, room):
    """A decoder that takes what is best, while there is room, beside what must be in."""

    def pick(allowed, inside):
        order = [*inside, *(i for i in np.argsort(-np.array(score)) if allowed[i] and i not in inside)]
        return Choice(np.sort(np.array(order[:room], np.int64)))

    return pick


def standing(storm, score, room, pinned=(), **options):
    every, cost = np.ones(8, bool), options.get("cost", np.arange(8.0) + 9)
    pinned = np.array(pinned, np.int64)
    return choose_standing(by_score(score, room), storm, every, pinned, cost, np.arange(8))


def test_a_set_does_not_open_with_a_loose_sentence(storm):
    found = standing(storm, [0, 9, 8, 7, 6, 5, 4, 3], 3)  # 1 and 2 would open it
    assert found.subset.tolist() == [3, 4, 5]
    assert found.leaning.tolist() == [1, 2]
    assert standing(storm, [0, 9, 8, 7, 6, 5, 4, 3], 3, pinned=[1]).subset.tolist() == [1, 2, 3]
    assert standing(storm, [9, 8, 0, 0, 7, 0, 0, 0], 3).subset.tolist() == [0, 1, 4]  # a later one may


def test_too_much_is_not_given_up_for_an_opening(storm):
    cost = np.array([1.0, 9, 9, 1, 9, 1, 9, 1])
    assert standing(storm, [0, 9, 8, 0, 7, 0, 6, 0], 3, cost=cost).subset.tolist() == [1, 2, 4]
    assert standing(storm, [1] * 8, 8).subset.tolist() == [*range(8)]  # all there is
    few = split_cluster(Cluster.from_texts(["It rained. It poured. He left."]))
    assert choose_standing(by_score([3, 2, 1], 2), few, np.ones(3, bool), np.array([], int), np.ones(3), np.arange(3))[
        0
    ].tolist() == [0, 1]


@pytest.mark.parametrize("decoder", ["consensus", "greedy"])
@pytest.mark.parametrize("unit", ["words", "sentences"])
def test_summaries_open_well(decoder, unit):
    model, cluster = Summarizer.load(), Cluster([Document("a", STORM), *Cluster.example().documents])
    ready = model.prepare(cluster)
    for budget in (1, 3, 5) if unit == "sentences" else (15, 40, 80, 160):
        usual = model.summarize(ready, budget, unit, decoder=decoder)
        assert usual.order[0] not in loose(ready.read, usual.subset)
        codes = {x.number: x.code for x in usual.explain().best_left_out(None)}
        assert all(ready.read.leaning[i] for i, code in codes.items() if code == "leans")
