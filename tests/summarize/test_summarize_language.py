"""A model for English says so when it is given something else, and only then."""

import warnings

import pytest

from dpplearn.summarize import Cluster, Summarizer
from dpplearn.summarize.text.words import foreign_language

# Invented texts, each some thirty words; repeated they pass the least number of words.
OTHERS = {
    "German": (
        "Der Fluss ist in der Nacht über die Ufer getreten. Die Stadt wurde nach dem Regen nicht mehr mit dem Zug "
        "erreicht, und die Schule blieb geschlossen, wie es aus dem Rathaus hieß. Es gab keine Verletzten."
    ),
    "French": (
        "La rivière est sortie de son lit dans la nuit. Les habitants du village ont été conduits dans une école, "
        "et le maire a dit que la route ne serait pas ouverte avant lundi, selon les services de la ville."
    ),
    "Spanish": (
        "El río se salió de su cauce por la noche. Los vecinos del pueblo fueron llevados a una escuela, y el "
        "alcalde dijo que la carretera no se abrirá hasta el lunes, según los servicios de la ciudad."
    ),
    "Indonesian or Malay": (
        "Sungai meluap pada malam hari dan air masuk ke rumah. Sekolah dibuka untuk keluarga yang tidak dapat "
        "pulang, dan jalan ke kota ditutup. Wali kota mengatakan bahwa jembatan itu sudah tua dan akan dibangun "
        "dengan cepat."
    ),
    "another language": (
        "Con sông tràn bờ trong đêm và nước vào nhà dân. Trường học được mở cho các gia đình không thể trở về, và "
        "con đường vào thành phố bị đóng. Thị trưởng nói rằng cây cầu đã cũ và sẽ được xây lại."
    ),
    "Cyrillic script": (
        "Река вышла из берегов ночью, и вода вошла в дома. Школу открыли для семей, которые не могут вернуться, а "
        "дорога в город закрыта. Мэр сказал, что мост был старым."
    ),
    "Chinese characters": (
        "夜里河水漫过堤岸，进入了房屋。学校向无法回家的家庭开放，通往城市的道路已经关闭。市长说那座桥已经很旧，将会"
        "重建。"
    )
    * 3,
    "Hiragana script": (
        "よるのうちにかわがあふれ、みずがいえにはいった。がっこうはかえれないかぞくのためにひらかれ、まちへのみちは"
        "とじられている。"
    )
    * 3,
    "Thai script": ("แม่น้ำล้นตลิ่งในเวลากลางคืนและน้ำเข้าไปในบ้าน โรงเรียนเปิดให้ครอบครัวที่กลับบ้านไม่ได้ และถนนเข้าเมืองถูกปิด") * 3,
}

CODE = """
def read(path, encoding="utf-8"):
    with open(path, encoding=encoding) as file:
        for i, line in enumerate(file):
            if line.strip() and not line.startswith("#"):
                yield i, json.loads(line)

class Queue:
    def __init__(self, size=10):
        self.items, self.size = [], size
    def put(self, x):
        self.items.append(x); del self.items[:-self.size]
for (int i = 0; i < n; i++) { sum += a[i] * b[i]; } en.lang = "de"; var el = document.getElementById("la");
"""
ENGLISH = {
    "news": (
        "The river rose in the night, and water ran into the houses. The school was opened to families that could "
        "not go home, the mayor said. Trains to the town of Ostrel will not run before Monday. "
    )
    * 2,
    "code": CODE * 2,
    "names": (
        "El Paso, Los Angeles, La Paz, Las Vegas, San Juan, Del Rio, Le Mans, Vincent van Gogh, Ludwig van "
        "Beethoven, Charles de Gaulle, Leonardo da Vinci, Simón Bolívar, Björn Borg, Des Moines, Oscar de la "
        "Renta, Antonín Dvořák. "
    )
    * 3,
    "science": (
        "We estimate θ by maximum likelihood (Müller et al., 2009; van der Berg and de Souza, 2010) and compare it "
        "with the naïve estimator à la Gödel. The L₂ norm of the residual is reported in Table 3 for α = 0.05 and "
        "β = 0.8. "
    )
    * 2,
    "quotation": (
        "The minister said, “Es ist nicht zu spät, und wir werden das auch nicht vergessen,” and left for the "
        "capital, where the talks on the price of bread went on for most of the night without a result. "
    )
    * 2,
    "short": OTHERS["German"],
    "empty": "",
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_languages_are_seen(name):
    assert foreign_language([OTHERS[name], OTHERS[name]]) == name


@pytest.mark.parametrize("name", ENGLISH)
def test_english_and_what_has_no_language_are_not(name):
    assert foreign_language([ENGLISH[name]]) is None


def test_the_summarizer_warns_once_and_says_what_to_do():
    model = Summarizer(budget=60, unit="words").fit([Cluster.example()])
    german = Cluster.from_texts([OTHERS["German"]] * 2, id="flut")
    with pytest.warns(UserWarning, match="Cluster flut seems to be in German, but the model is for English") as caught:
        summary = model.summarize(german, 20, "words", decoder="greedy")
    assert len(caught) == 1
    assert "--language" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert summary.text
    with pytest.warns(UserWarning, match="seems to be in french"):
        model.summarize(Cluster.from_texts(["Le pont."], language="French"), 9, "words")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.summarize(Cluster.from_texts([OTHERS["German"]] * 2, language="en"), 20, "words", decoder="greedy")
        for name in ("news", "code", "short"):
            model.summarize(Cluster.from_texts([ENGLISH[name]]), 20, "words", decoder="greedy")


def test_the_model_inside_takes_any_language_for_what_it_is():
    model = Summarizer.load()
    assert model.language_ == "any"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared = model.prepare(Cluster.from_texts([OTHERS["German"]] * 2))
        assert prepared.language == "German"
        assert model.summarize(prepared, 20, "words").text
        assert model.prepare(Cluster.from_texts([ENGLISH["news"]])).language is None
        assert model.prepare(Cluster.from_texts(["Le pont a cédé."], language="fr")).language == "french"
