"""Whether a text clearly is not English: by its script, its small words, or its accented letters.

Short texts, lists and code have few small words of any language, so that what is asked for is evidence of another
language, never a lack of English.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from dpplearn.summarize.text.matching import ENGLISH, normal_language
from dpplearn.summarize.text.words import words

if TYPE_CHECKING:
    from dpplearn.summarize.corpora.cluster import Cluster

LEAST = 50  # words, below which nothing is said
ENOUGH = 6_000  # characters that are looked at, as many of each document's beginning

_ENGLISH = """
the of and that for with was were this from are have has had not but they which been would will their there who its
his her you about than into could she some when more what said
"""
# Common words that are no English words, nor names, units or keywords of programs as far as that can be.
_SMALL = {
    "German": """
        der und das dem des ein eine einen einer einem ist sind nicht mit sich auf für auch wird wurde
        wurden werden aus nach bei zu zum zur von vom im über haben hatte dass als wie oder sie er es aber noch
        nur
    """,
    "French": """
        le les des du une et est dans qui que pour pas sur avec au aux ce cette ces ont été était sont il
        elle ils ne se mais ou leur leurs selon après sa ses
    """,
    "Spanish": """
        el los las del una que por con para como más fue su sus al lo es ha han está pero este esta entre
        según también sobre cuando ya se muy desde hasta había
    """,
    "Portuguese": """
        os um uma que não com para por mais dos das foi ao aos são na nas nos em ele ela seu sua mas também já
        pelo pela entre quando está foram tem muito até segundo
    """,
    "Italian": """
        il gli una che di non con del della dei delle nel nella alla sono è più anche ma dal dalla suo
        sua stato stata hanno ha questo questa dopo tra lo sul sulla
    """,
    "Dutch": """
        het een van niet zijn voor ook maar dat wordt werd worden naar bij uit om nog heeft hebben deze
        dit zich aan er ze hij hun geen meer volgens
    """,
    "Swedish": """
        och att det som på är av för med till inte har ett om var en sig från vid han hon efter när kan
        också hade blev enligt
    """,
    "Danish or Norwegian": """
        og det som på er av af med til ikke har et om var en sig seg fra ved han hun etter efter når kan
        også hadde havde ble blev ifølge
    """,
    "Finnish": """
        ja ei että oli se hän mutta myös kun joka ovat olivat sekä tai niin kuin jos vain ollut mukaan jälkeen
        jo nyt sitten ne tämä
    """,
    "Polish": """
        nie się na jest że od po dla jak ale czy już przez przed tym tego oraz są był była było które który
        która także jego ich został według
    """,
    "Czech or Slovak": """
        se na je že od po jak ale už přes při tím toho jsou byl byla bylo které který která také jeho jejich
        podle aby nebo jako však sa pri sú
    """,
    "Turkish": """
        ve bir bu için ile de da olarak olan daha çok gibi kadar sonra ancak göre ise ne ama en ya değil oldu
        olduğu dedi
    """,
    "Hungarian": """
        az és hogy nem egy ez volt meg már csak mint de vagy szerint után ki még pedig azt ezt lesz lett van
        voltak
    """,
    "Romanian": """
        și în de la cu pe din nu este sunt pentru mai au fost fi un că sau după prin dar ca ce acest
        această lui
    """,
    "Indonesian or Malay": """
        yang dan di dari untuk dengan pada ini itu tidak akan ke dalam juga oleh ada telah bahwa adalah mereka
        karena para kata atau lebih sudah saat
    """,
    "Swahili": """
        na ya wa kwa ni katika za la cha kuwa hii hiyo huo huyo yake wake kama pia lakini baada alisema watu
    """,
    "Tagalog": """
        ang ng mga sa na ay si ni kay nang ito para hindi mula din rin niya kanilang isang
    """,
    "Catalan": """
        els les del una que amb als més és són va han ha aquest aquesta també seu seva però entre quan des
        fins segons dels
    """,
}
_WORDS = {name: frozenset(listed.split()) for name, listed in _SMALL.items()}


def foreign(texts: Iterable[str]) -> str | None:
    """What the texts seem to be in if that clearly is not English, else None.

    Examples
    --------
    >>> foreign(["Der Fluss ist in der Nacht über die Ufer getreten, und die Stadt wurde nach dem Regen nicht "
    ...          "mehr mit dem Zug erreicht, wie es aus dem Rathaus hieß. "] * 3)
    'German'
    >>> foreign(["The river rose in the night, and the town was cut off. "] * 9)
    """
    texts = list(texts)[:30]
    part = ENOUGH // max(len(texts), 1)
    found = list(chain.from_iterable(words(text[:part]) for text in texts))
    letters = Counter(c for word in found for c in word if c.isalpha())
    total = letters.total()
    other = Counter({c: count for c, count in letters.items() if not _is_latin(c)})
    if total >= 4 * LEAST and 2 * other.total() > total:
        script = unicodedata.name(other.most_common(1)[0][0], "another").split()[0]
        return "Chinese characters" if script == "CJK" else f"{script.title()} script"
    if len(found) < LEAST:
        return None
    counts = Counter(found)
    english = sum(counts[word] for word in _ENGLISH.split())
    best = max(_WORDS, key=lambda name: sum(counts[word] for word in _WORDS[name]))
    seen = {word: counts[word] for word in _WORDS[best] if counts[word]}
    # a language's small words are a quarter of its text and more; names ("Los", "van der") are few different ones
    if len(seen) >= 6 and sum(seen.values()) >= max(0.1 * len(found), 1.5 * english):
        return best
    accented = sum(count for word, count in counts.items() if _is_accented(word))
    if accented >= 0.25 * len(found) and english < 0.02 * len(found):  # Vietnamese, Latvian, Icelandic, ...
        return "another language"
    return None


def _is_accented(word: str) -> bool:
    """Whether it is a word in Latin letters, one of them accented; formulas have single ones."""
    return len(word) > 1 and not word.isascii() and word.isalpha() and all(map(_is_latin, word))


def _is_latin(c: str) -> bool:
    return c < "\u0250" or "\u1e00" <= c <= "\u1eff" or unicodedata.name(c, "").startswith("LATIN")


def language_of(cluster: Cluster) -> str | None:
    """What the cluster says it is in, or what its text clearly is in; None where that may well be English."""
    return normal_language(cluster.language) or foreign(document.text for document in cluster.documents)


def misread(cluster: Cluster, language: str | None) -> str | None:
    """What to say if a model for English is given a cluster in another language, else None."""
    if language not in (None, ENGLISH):
        return None
    found = language_of(cluster)
    if found in (None, ENGLISH):
        return None
    name = cluster.name[:1].upper() + cluster.name[1:]
    return (
        f"{name} seems to be in {found}, but the model is for English: its weights may not fit, and words are weighed "
        "and compared as English ones."
    )


def warn_unless_read(cluster: Cluster, language: str | None, stacklevel: int = 3) -> None:
    """Warn if a model for English is given a cluster in another language."""
    said = misread(cluster, language)
    if said is not None:
        warnings.warn(
            f"{said} Train a model on clusters in that language "
            "(dpplearn train --language NAME, or Summarizer(language=NAME).fit) and use that one.",
            stacklevel=stacklevel,
        )
