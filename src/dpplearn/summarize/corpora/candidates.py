"""Which sentences of a cluster a summary may be made of, and why each other piece of text was set aside.

Only here are documents compared: agency copy, what every page of a site says, and other languages are set aside.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpplearn.summarize.corpora.cluster import Cluster, Document, Sentence, TooManySentencesError, document_name
from dpplearn.summarize.text.blocks import RUNNING, Block, is_closed
from dpplearn.summarize.text.dates import dateline_end
from dpplearn.summarize.text.fragments import is_sentence, may_state
from dpplearn.summarize.text.sentences import Piece, find_pieces
from dpplearn.summarize.text.units import count_words
from dpplearn.summarize.text.words import STOPS, has_word, one_line, small_words, word_lists

Reason = tuple[str, str]  # the code of why a piece is set aside, and the name of the document that it repeats

_ALPHANUMERIC = re.compile(r"[^\W_]+")
_LEAST = 30  # letters and spaces of a paragraph, below which two writers may well have written the same
_WHOSE = 80  # characters before a quotation that may say whose it is: "Ann wrote: ..."
_HEAD = 40  # characters by which a quotation is compared with the sentences of its document
_FAMILIES = 4  # the fewest different documents of which "most" says anything
# Ranks of pieces, best first. A document without sentences offers its titles, and a cluster with neither the next rank.
SENTENCE, TITLE, FRAGMENT, LABEL, REST = range(5)
MOST = 0.6  # share of a text that must be in one language for others to be set aside
_OTHER_SCRIPTS = re.compile(r"[^\W\d_\x00-\u024f]")
_FEWEST_SMALL = 3  # different small words that show which language a text is in
FEWEST_LINES = 5  # of a document of headlines
# A text with fewer stops than one in so many characters (some eighty words) is cut where a clause with its own subject
# begins. In other texts a long sentence stays whole.
STOPLESS = 400
_LONG_CLAUSE = 60  # words of a piece that is left whole
# Words after which a piece is cut: where a subject follows a conjunction or comma, at a comma, at any conjunction.
_ENOUGH, _PLENTY, _TOO_MANY = 10, 16, 35
_LISTS = word_lists("sentence-words")
_CLAUSE_HEADS = _LISTS["subjects"] | _LISTS["clause heads"]
_CONTINUE = frozenset(["that", "which", "who", "whom", "whose", "what"])  # a clause that leans on the one before
# Labels before a sentence: "Methods: We measured", "[API-12]", "Bed ★★★". "Methods We measured" has no colon; it counts
# if another such word follows in its block.
_ABSTRACT_PART = (
    r"(?i:background|objectives?|aims?|methods?|results?|findings|conclusions?|interpretation|abstract|summary|"
    r"(?:dis)?liked?|pros|cons)"
)
_PART_LABEL = re.compile(
    rf"(?:{_ABSTRACT_PART}(?:\s?[:.—–]|\s(?=\s*[A-Z]))|\[[A-Z]{{1,10}}-[0-9]+\]|[^.!?★☆]{{0,30}}[★☆]+)\s*"
)
_LATER_PART = re.compile(rf"[.!?]\s+{_ABSTRACT_PART}\s[A-Z]")
_TAGS_AT_END = re.compile(r"\s*\([^()]{0,20}(?:#[0-9]|@\w)[^()]{0,60}\)$|\s+[:;]-?[()D]+$")  # (#812, @ann), :-)
_STOP = re.compile(f"[{re.escape(STOPS)}]")
_SPACED_TOKEN = re.compile(r"\S+")
REASONS = {  # why a piece is set aside, by the kind of its block or by the code
    "row": "a table's row",
    "code": "code",
    "byline": "a byline or date",
    "navigation": "navigation",
    "banner": "a banner, or what a program says",
    "no-sentence": "no sentence",
    "announces": "only announces what follows",
    "repeated": "repeated from ",
    "boilerplate": "in most documents",
    "language": "in another language",
}


@dataclass(frozen=True)
class SetAside:
    """A piece of a document that is no candidate: where it stands, the kind of its block, and the reason in words.

    `code` is "kind" (its block is no running text), "no-sentence", "announces" (a list, table or code after it),
    "language" (most of the text is in another), "repeated" (its paragraph stands in an earlier document, or it is
    quoted from the same one), or "boilerplate" (it stands in most documents).
    """

    text: str
    document: int
    start: int
    end: int
    kind: str
    code: str
    reason: str


@dataclass(frozen=True)
class Candidates:
    """The sentences to choose from, in order of documents, and all other pieces that have a word."""

    sentences: tuple[Sentence, ...]
    set_aside: tuple[SetAside, ...]


class RankedPiece(NamedTuple):
    """A piece on one line, how good a candidate it is, and the code of the reason if it is none."""

    text: str
    piece: Piece
    rank: int
    code: str


def find_candidates(cluster: Cluster, limit: int | None = None, keep_all: bool = False) -> Candidates:
    """Divide the pieces of a cluster's documents into candidates for a summary and the rest."""
    documents, ranked, n_sentences = cluster.documents, list[list[RankedPiece]](), 0
    for document in documents:
        ranked.append(rank_pieces(document, keep_all))
        n_sentences += sum(piece.rank == SENTENCE for piece in ranked[-1])
        if limit is not None and n_sentences > limit:
            raise too_many(cluster, limit)
    best = [min((piece.rank for piece in pieces), default=REST) for pieces in ranked]
    last = [rank if rank <= TITLE else min(best) for rank in best]  # the rank of the last candidates of a document
    chosen = [(i, x.piece) for i, pieces in enumerate(ranked) for x in pieces if x.rank <= last[i]]
    if limit is not None and len(chosen) > limit:
        raise too_many(cluster, limit)
    reasons = {} if keep_all else find_repeats(documents, chosen) | find_other_languages(documents, chosen)
    sentences, set_aside, number = list[Sentence](), list[SetAside](), -1  # number: among the candidates
    for i, (document, pieces) in enumerate(zip(documents, ranked, strict=True)):
        position = 0
        for text, (start, end, block, section), rank, code in pieces:
            source = ""  # the document that a piece repeats
            if rank <= last[i]:
                number += 1
                code, source = reasons.get(number, ("", ""))
                position += code != "boilerplate"
            if rank > last[i] or code:
                reason = REASONS.get(block.kind, f"a {block.kind}") if code == "kind" else REASONS[code]
                set_aside.append(SetAside(text, i, start, end, block.kind, code, reason + source))
            else:
                title = section and one_line(document.text[section.start : section.end])
                sentences.append(Sentence(text, i, position, start, end, block.kind, title))
    return Candidates(tuple(sentences), tuple(set_aside))


def too_many(cluster: Cluster, limit: int) -> TooManySentencesError:
    """The error that a cluster has more sentences than there may be."""
    return TooManySentencesError(
        f"{cluster.name} must have at most {limit:,} sentences, but has more. Give fewer or shorter documents."
    )


def rank_pieces(document: Document, keep_all: bool) -> list[RankedPiece]:
    """The pieces of a document with their ranks.

    A document of lines without stops, such as a list of headlines, has few lines that read like sentences. Its other
    lines that may state something are then candidates, too.
    """
    pieces = [(one_line(document.text[piece.start : piece.end]), piece) for piece in pieces_of(document)]
    if keep_all:
        return [RankedPiece(text, piece, SENTENCE, "") for text, piece in pieces]
    ranked = [RankedPiece(*pieces[i], *rank_piece(pieces, i)) for i in range(len(pieces))]
    good = [piece.rank for piece in ranked if piece.rank <= TITLE]
    if (
        len(ranked) < FEWEST_LINES
        or 5 * len(good) >= 2 * len(ranked)
        or any(x.piece.kind not in ("paragraph", "heading") or is_closed(x.text) for x in ranked)
    ):
        return ranked
    rank = max(good, default=SENTENCE)
    return [x._replace(rank=min(rank, x.rank)) if may_state(x.text) else x for x in ranked]


def rank_piece(pieces: list[tuple[str, Piece]], i: int) -> tuple[int, str]:
    """How good a candidate piece i of a document is, from SENTENCE to REST, and why it is none."""
    text, piece = pieces[i]
    if piece.kind in ("heading", "caption", "byline"):
        return (TITLE if is_sentence(text) else LABEL), "kind"
    if piece.kind not in RUNNING:
        return REST, "kind"
    if not is_sentence(text, in_paragraph=not piece.is_whole and is_closed(text)):
        letters, signs = sum(map(str.isalpha, text)), sum(not c.isspace() for c in text)
        return (FRAGMENT if count_words(text) >= 3 and letters > 0.7 * signs else REST), "no-sentence"
    if piece.kind == "item":
        before, above = pieces[i - 1] if i else ("", piece)
        goes_on = before.removesuffix(" and").removesuffix(" or").endswith((";", ","))
        if text[0].islower() and above.kind == "item" and goes_on:  # "...; and", "a statement ..."
            return FRAGMENT, "no-sentence"
    elif text[-1] in ":：" and i + 1 < len(pieces) and pieces[i + 1][1].kind in ("item", "row", "code"):
        return FRAGMENT, "announces"
    return SENTENCE, ""


def find_repeats(documents: Sequence[Document], pieces: Sequence[tuple[int, Piece]]) -> dict[int, Reason]:
    """Find the pieces that repeat others. A piece comes with the number of its document, and documents are in order.

    A paragraph of an earlier document, but for case, punctuation and white space, is "repeated"; so is a quotation
    that begins like another sentence of its document. A sentence that stands in more than half of at least
    `_FAMILIES` documents is "boilerplate". There, documents that are mostly the same count
    as one: a story that most papers took from an agency is no boilerplate.
    """
    quoting = {i for i, piece in pieces if piece.kind == "quotation"}
    if len(documents) < 2 and not quoting:
        return {}
    texts = [documents[i].text[piece.start : piece.end] for i, piece in pieces]
    reasons, normalized, first = dict[int, Reason](), [*map(normal, texts)], dict[str, int]()
    unquoted = {
        (i, text[:_HEAD])
        for (i, piece), text in zip(pieces, normalized, strict=True)
        if i in quoting and piece.kind != "quotation"
    }
    paragraph, key = None, ""
    for number, (i, piece) in enumerate(pieces):
        if piece.kind == "quotation":
            head = normal(texts[number][texts[number].find(":", 0, _WHOSE) + 1 :])[:_HEAD]
            if len(head) >= _LEAST and (i, head) in unquoted:
                reasons[number] = "repeated", document_name(documents[i].id)
        start, end = min(piece.start, piece.block.start), max(piece.end, piece.block.end)
        if paragraph != (i, start, end):
            paragraph = i, start, end
            key = normalized[number] if piece.is_whole else normal(documents[i].text[start:end])
        if first.setdefault(key, i) != i and len(key) >= _LEAST:
            reasons[number] = "repeated", document_name(documents[first[key]].id)
    owners = [i for i, _ in pieces]
    families, holders = find_families(owners, normalized), defaultdict[str, set[int]](set)
    for i, text in zip(owners, normalized, strict=True):
        holders[text].add(families[i])
    n = len(set(families.values()))
    common = {text for text, holding in holders.items() if 2 * len(holding) > n >= _FAMILIES}
    if len(common) < len(holders):  # else nothing would be left
        reasons |= {number: ("boilerplate", "") for number, text in enumerate(normalized) if text in common}
    return reasons


def normal(text: str) -> str:
    """The words of a text, in lower case.

    Examples
    --------
    >>> normal("Rain --  in OSLO!") == normal("rain in Oslo")
    True
    """
    return " ".join(_ALPHANUMERIC.findall(text.lower()))


def find_families(owners: Sequence[int], normalized: Sequence[str]) -> dict[int, int]:
    """For each document the first that shares half of the characters of either's sentences with it, or itself.

    A document is compared with the first that has its sentence, so that the time is linear in their number.
    """
    first, shared, size = dict[str, int](), Counter[tuple[int, int]](), Counter[int]()
    for owner, text in zip(owners, normalized, strict=True):
        size[owner] += len(text)
        holder = first.setdefault(text, owner)
        if holder != owner:
            shared[holder, owner] += len(text)
    families = {owner: owner for owner in owners}
    for (holder, owner), length in sorted(shared.items()):
        if 2 * length >= min(size[holder], size[owner]):
            families[owner] = families[holder]
    return families


def find_other_languages(documents: Sequence[Document], pieces: Sequence[tuple[int, Piece]]) -> dict[int, Reason]:
    """Where most of the text is clearly in one language, the pieces that are clearly in another.

    Either their paragraph is, or they are themselves and have none of the main language's small words.
    """
    languages, sizes = dict[tuple[int, Block], str | None](), Counter[str | None]()
    for i, (_, _, block, _) in pieces:
        if (i, block) not in languages:
            languages[i, block] = clear_language(documents[i].text[block.start : block.end])
            sizes[languages[i, block]] += block.end - block.start
    del sizes[None]  # too short to tell
    main, size = max(sizes.items(), key=lambda item: item[1], default=(None, 0))
    if main is None or size < MOST * sizes.total():
        return {}
    small, reasons = word_lists("small-words").get(main, frozenset()), dict[int, Reason]()
    for number, (i, piece) in enumerate(pieces):
        text, language = documents[i].text[piece.start : piece.end], languages[i, piece.block]
        if language in (None, main) and small.isdisjoint(text.lower().split()):
            language = clear_language(text)
        if language not in (None, main):
            reasons[number] = "language", ""
    return reasons


def clear_language(text: str) -> str | None:
    """The language of which a text has three small words or more, and twice as many as of any other.

    Words with a capital do not count, but for the first: "Las" and "Del" are often parts of names.

    Examples
    --------
    >>> [clear_language(text) for text in ("The dam was built in 1790, and it has held.", "Er ist alt, aber gut und "
    ...  "noch dicht.", "A dam.")]
    ['English', 'German', None]
    """
    if not text.isascii() and 3 * len(_OTHER_SCRIPTS.findall(text)) > len(text):
        return "another script"
    small = small_words().intersection((text[:1].lower() + text[1:]).split())
    if len(small) < _FEWEST_SMALL:
        return None
    *_, second, most = sorted((len(small & listed), name) for name, listed in word_lists("small-words").items())
    return most[1] if most[0] >= max(_FEWEST_SMALL, 2 * second[0]) else None


def pieces_of(document: Document) -> Iterator[Piece]:
    """The pieces of a document that have a word, without labels, and without the dateline of its first paragraph."""
    text, dated = document.text, False
    for piece in cut_clauses(text, find_pieces(text, document.blocks)):
        start, end = piece.start, piece.end
        if not dated and piece.kind in RUNNING:
            dated = True
            start += dateline_end(text[start:end])
        label = _PART_LABEL.match(text, start, end)
        if label and (label[0].rstrip()[-1] in ":.—–]★☆" or _LATER_PART.search(text, *piece.block[:2])):
            start = label.end() if label.end() < end else start
        if text[end - 1] in "()D":
            end = start + (len(_TAGS_AT_END.sub("", text[start:end])) or end - start)
        if has_word(text, start, end):
            yield piece._replace(start=start, end=end)


def cut_clauses(text: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of a document, the long ones cut into clauses if it has hardly any stops.

    Examples
    --------
    >>> from dpplearn.summarize.text.sentences import find_pieces
    >>> text = "so we took the small road along the river because the bridge was closed " * 9
    >>> pieces = list(cut_clauses(text, find_pieces(text)))
    >>> len(pieces), text[pieces[1].start : pieces[1].end]
    (9, 'so we took the small road along the river because the bridge was closed')
    """
    few = len(text) // STOPLESS
    stopless = few > 0 and sum(map(text.count, ".!?")) < few and len(_STOP.findall(text)) < few
    for piece in pieces:
        begin = piece.start
        for end, after in _clause_ends(text, piece) if stopless and piece.kind == "paragraph" else ():
            yield piece._replace(start=begin, end=end)
            begin = after
        yield piece._replace(start=begin)


def _clause_ends(text: str, piece: Piece) -> Iterator[tuple[int, int]]:
    """Where a clause of a long piece ends, and where the next begins."""
    tokens = [match.span() for match in _SPACED_TOKEN.finditer(text, piece.start, piece.end)]
    words = [text[start:end].lower() for start, end in tokens]
    n = 0
    for i in range(1, len(words) - _ENOUGH // 2 if len(words) > _LONG_CLAUSE else 0):
        comma, joint, after = words[i - 1][-1] in ",;:،", words[i] in _LISTS["joints"], words[i + 1]
        begins = after in _CLAUSE_HEADS if joint else words[i] in _LISTS["subjects"]
        least = _ENOUGH if begins else _PLENTY if comma or after in _LISTS["phrase heads"] else _TOO_MANY
        n += 1
        if n >= least and (after not in _CONTINUE if joint else comma):
            skipped = words[i] in _LISTS["mere joints"]  # "and" at the head of a sentence says nothing
            yield tokens[i - 1][1], tokens[i + skipped][0]
            n = 0
