"""PDF, Word, OpenDocument, EPUB, RTF and e-mail: what stands in them, in order, as what it is, and nothing else."""

import random
import struct
import zlib
from base64 import b85decode
from importlib import import_module

import pytest

from dpplearn.summarize import Cluster, SkippedWarning
from dpplearn.summarize.corpora.documents import DocumentFile, kind_of_file, parse_document
from dpplearn.summarize.corpora.formats.apart import Apart, Limits
from dpplearn.summarize.corpora.formats.pdf import parse_pdf
from dpplearn.summarize.corpora.formats.pdf_layout import Word, lines_of
from markup_files import eml, mbox, rtf
from office_files import archive, docx, docx_paragraph, epub, odt
from pdf_files import Setter, pdf_article, pdf_scan

pytest.importorskip("pypdfium2")

NAMES = ["harbour", "district", "authority", "winter", "channel", "instrument", "measurement", "investigation"]
VERBS = ["reported", "improved", "measured", "considered", "distinguished", "calibrated", "documented"]


def read(data, name="a.txt", limits=None):
    """The documents of a file, read in this process."""
    file = DocumentFile(data, name, name, None, limits or Limits())
    parse = kind_of_file(file).parse
    if isinstance(parse, Apart):
        module, _, function = parse.function.partition(":")
        parse = getattr(import_module(module), function)
    return parse(file)


def shown(document):
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def prose(count, seed=0):
    """Paragraphs that differ, with words that are long enough to be cut at line ends."""
    draw = random.Random(seed)
    made = []
    for i in range(count):
        sentences = [
            f"The {draw.choice(NAMES)} of the {draw.choice(NAMES)} {draw.choice(VERBS)} a well-known "
            f"{draw.choice(NAMES)} near the {draw.choice(NAMES)} number {i * 10 + j}."
            for j in range(draw.randint(2, 7))
        ]
        made.append(" ".join(sentences))
    return made


BLOCKS = [
    ("heading", "Rain"),
    ("paragraph", "It rained & poured < 3 days."),
    ("item", "Wet shoes"),
    ("row", ["May", "3 mm"]),
    ("row", ["June", "4 mm"]),
    ("quotation", "So it was."),
]
EXPECTED = [(kind, " | ".join(text) if kind == "row" else text) for kind, text in BLOCKS]


@pytest.mark.parametrize(("write", "name"), [(docx, "a.docx"), (odt, "a.odt")])
def test_blocks_are_what_they_are(write, name):
    [document] = read(write([("title", "Weather"), *BLOCKS, ("footnote", "See the annex.")]), name)
    assert document.title == "Weather"
    assert shown(document) == [*EXPECTED, ("footnote", "See the annex.")]
    assert read(write([("paragraph", "It rained.")], title="Named"), name)[0].title == "Named"


@pytest.mark.parametrize(("columns", "size", "gutter"), [(1, 9, 20), (2, 11, 20), (2, 9, 8), (2, 9, 24), (3, 9, 8)])
def test_a_paper_is_read_column_by_column(columns, size, gutter):
    paragraphs = prose(30, seed=columns)
    blocks = [("heading", "1 Introduction"), *(("paragraph", text) for text in paragraphs[:20])]
    blocks += [("caption", "Table 1: Rain by month."), ("row", ["Month", "Rain", "Days"]), ("row", ["May", "30", "12"])]
    blocks += [("row", ["June", "40", "15"]), ("heading", "2 Results")]
    blocks += [("paragraph", text) for text in paragraphs[20:]]
    blocks += [("heading", "References"), ("paragraph", "[1] A. Author. A paper on rain. 1999.")]
    data = pdf_article(
        blocks,
        title="On Rain in Small Harbours",
        authors="Ann Example, Bob Sample",
        abstract=" ".join(paragraphs[:2]),
        columns=columns,
        size=size,
        gutter=gutter,
        header="Journal of Rain, volume 12",
        footer="Draft of May",
    )
    [document] = read(data, "a.pdf")
    found = shown(document)
    assert document.title == "On Rain in Small Harbours"
    assert [text for kind, text in found if kind == "paragraph"] == [" ".join(paragraphs[:2]), *paragraphs]
    assert [text for kind, text in found if kind == "heading"] == [
        "Abstract",
        "1 Introduction",
        "2 Results",
        "References",
    ]
    assert [text for kind, text in found if kind == "row"] == ["Month | Rain | Days", "May | 30 | 12", "June | 40 | 15"]
    assert [kind for kind, text in found if "Author" in text or "Table 1" in text or "Ann" in text] == [
        "byline",
        "caption",
        "reference",
    ]
    assert "Journal" not in document.text
    assert "Draft" not in document.text


def test_pages_that_are_made_to_be_slow():
    """Words down a diagonal, in two columns a hand apart, and scattered: seconds at most, and no recursion."""
    diagonal = [(7.0 * k, 11.0 * k) for k in range(1_500)]
    apart = [(300.0 * (k % 2), 40.0 * (k // 2)) for k in range(4_000)]
    scattered = [(7.0 * (37 * k % 100), 11.0 * k) for k in range(1_500)]
    for places in (diagonal, apart, scattered):
        lines = lines_of([[Word("word", x, x + 6, y, 10.0, False) for x, y in places]])
        assert sum(len(line.text.split()) for line in lines) == len(places)


def test_pages_are_joined_and_their_numbers_dropped():
    made = Setter(columns=1, numbers=False)
    made.block("paragraph", "First words of a sentence that goes on and")
    made.text(300, 30, "- 1 -", 9)
    made.new_page()
    made.block("paragraph", "ends on another page, as sentences do.")
    made.text(300, 30, "- 2 -", 9)
    assert shown(read(made.save(), "a.pdf")[0]) == [
        ("paragraph", "First words of a sentence that goes on and ends on another page, as sentences do.")
    ]
    made = Setter(columns=1, numbers=False)
    for number, chapter in enumerate(["Rain", "Snow", "Hail", "Wind"], 41):  # a head that changes, and counts
        made.text(60, 760, f"{chapter} {number}" if number % 2 else f"{number} {chapter}", 9)
        made.block("paragraph", prose(1, number)[0])
        made.new_page()
    assert [kind for kind, _ in shown(read(made.save(), "a.pdf")[0])] == ["paragraph"] * 4


MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def test_word_keeps_the_final_version():
    run = "<w:r><w:t>{}</w:t></w:r>"
    body = (
        f"<w:p>{run.format('It ')}<w:del>{run.format('snowed')}</w:del><w:ins>{run.format('rained')}</w:ins>"
        f"{run.format('.')}</w:p>"
        f"<mc:AlternateContent xmlns:mc={MC!r}>"
        "<mc:Choice><w:p><w:r><w:txbxContent><w:p><w:r><w:t>A box.</w:t></w:r></w:p>"
        "</w:txbxContent></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>A box.</w:t></w:r></w:p></mc:Fallback>"
        "</mc:AlternateContent>"
        "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Bold heading</w:t></w:r></w:p>"
        f"<w:tbl><w:tr><w:tc>{docx_paragraph('paragraph', 'A frame around text.')}</w:tc></w:tr></w:tbl>"
    )
    [document] = read(docx(body=body), "a.docx")
    assert shown(document) == [
        ("paragraph", "It rained."),
        ("paragraph", "A box."),
        ("heading", "Bold heading"),
        ("paragraph", "A frame around text."),
    ]


def test_rich_text_is_read_by_its_lines_and_rows():
    [document] = read(rtf([("title", "Weather"), *BLOCKS]), "a.rtf")
    assert document.title == "Weather"
    assert document.text.split("\n\n") == [
        *("Rain", "It rained & poured < 3 days.", "Wet shoes", "| May | 3 mm", "| June | 4 mm", "So it was.")
    ]
    body = r"\pard It rained.\par\trowd\intbl A frame around text.\cell\row"
    assert read(rtf(body=body), "a.rtf")[0].text == "It rained.\n\nA frame around text."
    assert read(rtf([("paragraph", "It rained.")], title="Named"), "a.rtf")[0].title == "Named"


def test_books_follow_their_spine():
    pages = {"b.xhtml": [("title", "Two"), ("paragraph", "It snowed.")], "a.xhtml": [("paragraph", "It rained.")]}
    [document] = read(epub(pages, "Weather", spine=[1, 0]), "a.epub")
    assert document.title == "Weather"
    assert shown(document) == [("paragraph", "It rained."), ("heading", "Two"), ("paragraph", "It snowed.")]


# A page of text, encrypted with the password x by RC4 of 40 bits
LOCKED = zlib.decompress(b85decode(
    "c-"
    "oy)J8#oa7#)y!n4v;K9hmOWAQ+18+cpZ7=p#^Clr$*?5jtGk*NLmdj%=q&%2)=N5DObBEDUWo#t!@e1VdREd29@<j9fb<iEt$l9xVHOkMrGg"
    "zFVlwm!{DbsujL`{cxxu06}PPXvHGXSNk0a^f{4;R@eY~MKoj#uu7<cnHfz6ZkmX51%o_&$#-"
    "K==V|)7>JoN?1fa1(k}E8QDn+k#?Iin6K?L+!5z9g3rfhA>#CHVH7Xl}A{Xk81*AK1-"
    "u|EVx1oZz2rf0*J`)@2P$8xW1Z%AjHXtAv%Nt?JyQ)!@h{6;fXL&?$#qgqEeDm*VYeMjDiL|@J1Cvinab78v^22#yt0)1HqjjUdg$4MkbTiZ"
    "^jIQl-Chac-l`i{~*1N-"
    "#b()Gn`*aLN_0FE#)EUav*$~f#sj`A<9&s51i5FmrX5(e~W14buJQx@BR{SKtDIaR9&V_^KTFve)W;h9W6cBotR^}SOM%&E@y)oW|j&CBoEn"
    "}_#L?(ECj?$q*Rw{!U9^Xs2yCU(zXJn{15>G<udogZgO>s#;9#M9=b)pIYNy*mi^`zseFd*Am~ww9hhJ}AePPkE)xF{Mg=E0K}1ED?b#BIW&"
    "BYEM<^rI$gGN!x=&n8=~rlbj-"
    "I+ZMKjYg3ys$AvcbB!UjLJ<r3;WCk>d=`t=|0txq&9(O>|b}i%@9)+F@Ek`oLHXLSn1UU|+2BjX7(sCHYsu5)pF%x^-"
    "ln_FXNR^?wRKPT)V`BCq>1hyH8XP`=Ge#Kjzz{>qm@E>EFivwA!YGGfWacn}VGg6m^y4_sYj8Zml1TV18D$34{4EJArFa;o7bDv>b=#tTC*A"
    "$*cX1xni%L#JFd>8zMmSL_6N@8`IpLHu&S${iQ`QH|CZZ&h&tj%lC@hpq+Al;IZNd"
))  # fmt: skip


def bomb(size=200_000_000):
    """A Word file whose text is all spaces."""
    return docx(more={"word/document.xml": b"<x>" + b" " * size})


def lying_bomb():
    """As above, with a size in its list that is not true."""
    data = bytearray(bomb(3_000_000))
    at = data.rfind(b"PK\x01\x02", 0, data.rfind(b"word/styles.xml"))
    while data[at + 46 : at + 63] != b"word/document.xml":
        at = data.rfind(b"PK\x01\x02", 0, at)
    data[at + 24 : at + 28] = struct.pack("<I", 100)
    return bytes(data)


LAUGHS = '<!DOCTYPE x [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'
ARTICLE = pdf_article([("paragraph", text) for text in prose(3)])
BAD = {
    "locked.pdf": (LOCKED, "protected by a password"),
    "scan.pdf": (pdf_scan(), "OCR"),
    "cut.pdf": (ARTICLE[: len(ARTICLE) // 2], "cut off"),
    "junk.pdf": (b"%PDF-1.7\njunk\n%%EOF\n", "no whole PDF file"),
    "cut.docx": (docx(BLOCKS)[:400], "it is damaged"),
    "holes.docx": (archive({"word/document.xml": "<x>"}), "it is damaged"),
    "laughs.docx": (docx(more={"word/document.xml": LAUGHS}), "declares entities"),
    "bomb.docx": (bomb(), "times its size, as bombs do"),
    "lie.docx": (lying_bomb(), "it is damaged"),
    "table.xlsx": (archive({"xl/workbook.xml": "<x/>"}), "such as a spreadsheet"),
    "notes.pages": (archive({"Index/Document.iwa": "x"}), "another archive"),
    "files.zip": (archive({"a.txt": "It rained."}), "or give what is inside"),
    "locked.odt": (odt(BLOCKS, more={"META-INF/manifest.xml": "<x><encryption-data/></x>"}), "password"),
    "old.doc": (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), r"old Office file.*save it as \.docx"),
    "locked.docx": (bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le"), "password"),
    "photo.pdf": (b"\xff\xd8\xff\xe0\0\0", "a picture.*OCR"),
    "cut.rtf": (rtf(BLOCKS)[:-20], "cut off"),
    "none.mbox": (mbox([eml("> quoted")]), "text of their own"),
    "spine.epub": (epub({}), "holds no text"),
}


def test_a_pdf_file_that_refers_to_itself_is_not_called_locked():
    """For such a file pdfium sets no error, and gives that of the file before."""
    first = b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
    loop = first + b"2 0 obj\n<</Type/Pages/Kids 2 0 R/Count 2 0 R>>\nendobj\n"
    places = b"".join(b"%010d 00000 n \n" % at for at in (9, len(first)))
    end = b"xref\n0 3\n0000000000 65535 f \n" + places + b"trailer\n<</Size 3/Root 1 0 R>>\n"
    loop += end + b"startxref\n%d\n%%%%EOF\n" % len(loop)
    with pytest.raises(ValueError, match=r"locked.pdf is protected by a password"):
        parse_pdf(DocumentFile(LOCKED, "locked.pdf", "locked.pdf"))
    with pytest.raises(ValueError, match=r"loop.pdf is cut off or damaged"):
        parse_pdf(DocumentFile(loop, "loop.pdf", "loop.pdf"))


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_a_line(name):
    data, message = BAD[name]
    with pytest.raises(ValueError, match=message) as caught:
        parse_document(data, name, f"/here/{name}")
    said = str(caught.value)
    assert said.startswith(f"/here/{name} ")
    assert "\n" not in said


def test_the_others_go_on(tmp_path):
    """Each bad file is named with its reason in a warning; where all are bad, in the error."""
    for name, (data, _) in BAD.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match="None of the files can be read") as caught:
        Cluster.from_files(sorted(tmp_path.iterdir()))
    assert all(str(tmp_path / name) in str(caught.value) for name in BAD)
    good = {"a.pdf": ARTICLE, "b.docx": docx(BLOCKS), "c.eml": eml("It rained."), "d.txt": ARTICLE, "e.odt": b"Plain."}
    good["f.pdf"] = b"<html><p>It rained in Oslo."
    for name, data in good.items():
        (tmp_path / name).write_bytes(data)
    with pytest.warns(SkippedWarning) as warned:
        cluster = Cluster.from_files(sorted(tmp_path.iterdir()))
    assert [document.id for document in cluster.documents] == sorted(good)
    assert len(warned) == len(BAD)
    assert all(any(f"Skipped: {tmp_path / name} " in str(one.message) for one in warned) for name in BAD)
    assert all(one.filename == __file__ for one in warned)
    texts = {document.id: document.text for document in cluster.documents}
    assert texts["a.pdf"] == texts["d.txt"] != ""
    assert (texts["e.odt"], texts["f.pdf"]) == ("Plain.", "It rained in Oslo.")
    for name in BAD:
        (tmp_path / name).unlink()
    taken = Cluster.from_files(tmp_path)  # from a folder
    assert {document.id for document in taken.documents} == set(good)


def test_limits_end_the_work():
    article = pdf_article([("paragraph", text) for text in prose(200)])
    with pytest.raises(ValueError, match="at most 2 pages, but has"):
        parse_document(article, "a.pdf", "a.pdf", limits=Limits(pages=2))
    with pytest.raises(ValueError, match="at most 3 messages"):
        parse_document(mbox([eml("It rained.")] * 4), "a.mbox", "a.mbox", limits=Limits(messages=3))
    with pytest.raises(ValueError, match="at most 3 members"):
        parse_document(docx(BLOCKS), "a.docx", "a.docx", limits=Limits(members=3))
    with pytest.raises(ValueError, match=r"unpack to at most 0\.0001 MB"):
        parse_document(docx(BLOCKS), "a.docx", "a.docx", limits=Limits(unpacked=100))
    with pytest.raises(ValueError, match=r"a\.pdf must be readable in 0\.01 s"):
        parse_document(article * 3, "a.pdf", "a.pdf", limits=Limits(seconds=0.01))
    assert parse_document(docx(BLOCKS), "a.docx", "a.docx")[0].blocks  # the next one is read


@pytest.mark.parametrize(
    ("package", "data", "name"),
    [("pypdfium2", ARTICLE, "a.pdf"), ("mammoth", docx(BLOCKS), "a.docx"), ("striprtf.striprtf", rtf(BLOCKS), "a.rtf")],
)
def test_a_missing_package_is_named(monkeypatch, package, data, name):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(ValueError, match=rf"{name} is a .* file, .* pip install 'dpplearn\[documents\]'"):
        read(data, name)


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".rtf"])
def test_bytes_that_are_only_called_like_a_file_are_not_said_to_be_text(suffix):
    with pytest.raises(ValueError, match=rf"a\{suffix} ends in \{suffix}, but is neither .* nor text: it is damaged"):
        parse_document(bytes(range(128, 256)), f"a{suffix}", f"a{suffix}")
    with pytest.raises(ValueError, match=rf"a\{suffix} ends in \{suffix}, but is neither .* nor text: it is damaged"):
        parse_document(b"Rain\0" + bytes(range(256)), f"a{suffix}", f"a{suffix}")
    assert parse_document(b"It rained all day.", f"a{suffix}", f"a{suffix}")[0].text == "It rained all day."
