"""The DUC layout, in files of our own with invented text."""

import gzip

import pytest

from commands import write
from dpplearn.summarize import SkippedWarning, read_clusters
from dpplearn.summarize.corpora.newswire import parse_sgml

AP = """<DOC>
<DOCNO> APW19981016.0240 </DOCNO>
<DOCTYPE> NEWS STORY </DOCTYPE>
<DATE_TIME> 10/16/1998 11:04:00 </DATE_TIME>
<BODY>
<SLUG> BC-Karsovia-Flood </SLUG>
<HEADLINE>
Lake falls; &quot;danger past,&quot; say engineers
</HEADLINE>
<BYLINE> By JOHN DOE </BYLINE>
<TEXT>
\tOSTREL, Karsovia (AP) _ The lake fell by a meter Friday, engineers
said, and ``the worst is over.''
\tWorkers &AMP; soldiers _ about 400 of them _ filled sandbags in the
rain. They came from the U.S. Army.
\tIt rained again.
(kt/jn)
</TEXT>
<TRAILER> AP-NY-10-16-98 1104EDT </TRAILER>
</BODY>
</DOC>
"""
NYT = """<DOC>
<DOCNO>NYT19981017.0001</DOCNO>
<HEADLINE> WHAT WENT WRONG &UR; </HEADLINE>
<TEXT>
<P>
&UR; By ANN LEE &LR;
<P>
c. 1998 Example Times News Service
<P>
 KARSOV &MD; Nobody knew that the gate was stuck, AT&T said. &QL;
<P>
 (STORY CAN END HERE. OPTIONAL MATERIAL FOLLOWS)
<P>
 The caf&eacute; by the dam is gone -- for good.
<ANNOTATION> not text </ANNOTATION>
<P>
NYT-10-17-98 0910EDT
</TEXT>
<TEXT> A second block fell. </TEXT>
</DOC>
"""
OTHER = b"""<doc><docno>XIE1</docno><text>
BONN (Reuters) - Caf\xe9 owners left.

They did not
come back.

cc-jk
</text></doc>"""


@pytest.fixture
def duc(tmp_path):
    write(tmp_path / "docs/d30001t/APW19981016.0240", AP)
    write(tmp_path / "docs/d30001t/NYT19981017.0001.gz", gzip.compress(NYT.encode()))
    write(tmp_path / "docs/d30001t/.DS_Store", b"\0")
    write(tmp_path / "docs/D30002T/XIE19981018.0002", OTHER)
    for name in ("D30001.M.100.T.B", "D30001.M.100.T.A", "D30001.M.050.T.C", "D30001.M.10.T.A.APW19981016.0240"):
        write(tmp_path / "eval/models" / name, f"Model {name[-1]}.\nThe lake &amp; the dam.\n\n")
    write(tmp_path / "copy/D30001.M.100.T.A", "Model A.\nThe lake &amp; the dam.\n\n")
    write(tmp_path / "eval/peers/D30001.P.100.T.65", "A peer.")
    write(tmp_path / "eval/models/d30002.m.100.t.c", "One model.")
    write(tmp_path / "readme.txt", "Where this came from.")
    return tmp_path


def test_clusters_and_models(duc):
    first, second = read_clusters(duc)
    assert (first.id, second.id) == ("D30001", "D30002")
    assert first.references == ("Model A.\nThe lake & the dam.", "Model B.\nThe lake & the dam.")
    assert second.references == ("One model.",)
    assert [document.id for document in first.documents] == ["APW19981016.0240", "NYT19981017.0001"]
    assert first.documents[0].title == 'Lake falls; "danger past," say engineers'
    assert first.documents[0].date == "10/16/1998 11:04:00"
    assert first.documents[1].title == "WHAT WENT WRONG"


def test_the_text_is_what_was_reported(duc):
    first, second = read_clusters(duc)
    assert [sentence.text for sentence in first.sentences()] == [
        'The lake fell by a meter Friday, engineers said, and "the worst is over."',
        "Workers & soldiers - about 400 of them - filled sandbags in the rain.",
        "They came from the U.S. Army.",
        "It rained again.",
        "Nobody knew that the gate was stuck, AT&T said.",
        "The café by the dam is gone -- for good.",
        "A second block fell.",
    ]
    assert second.documents[0].text == "Café owners left.\n\nThey did not come back."
    for sentence in first.sentences():
        assert first.documents[sentence.document].text[sentence.start : sentence.end] == sentence.text


def test_models_elsewhere(duc):
    (cluster,) = read_clusters(duc / "docs" / "d30001t")
    assert (cluster.id, cluster.references) == ("D30001", ())
    (cluster,) = read_clusters(duc / "docs" / "d30001t", references=duc / "eval")
    assert len(cluster.references) == 2


def test_copies_count_once_and_clashes_are_errors(duc):
    write(duc / "docs.without.headlines/d30001t/APW19981016.0240", AP.replace("HEADLINE", "X"))
    write(duc / "docs.without.headlines/d30001t/NYT19981017.0001.gz", NYT)
    assert [cluster.documents[0].title is None for cluster in read_clusters(duc)] == [False, True]
    write(duc / "task4/d30001t/OTHER", AP)
    with pytest.raises(ValueError, match=r"task4/d30001t have the same name and hold different documents"):
        read_clusters(duc)


def test_bad_files(duc):
    write(duc / "docs/d30001t/BAD", "<DOC>\nnothing else")
    with pytest.raises(ValueError, match=r"BAD must hold <DOC> with <DOCNO> and <TEXT>"):
        read_clusters(duc)
    with pytest.warns(SkippedWarning, match="BAD"):
        assert len(read_clusters(duc, skip_bad=True)[0].documents) == 2
    write(duc / "docs/d30001t/BAD", AP)
    with pytest.raises(ValueError, match=r"'APW19981016\.0240' occurs twice"):
        read_clusters(duc)


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("<DOC><TEXT><P>One.</P><P>Two.</P></TEXT></DOC>", ["One.\n\nTwo."]),
        ("<DOC><TEXT><P>One.<P>Two.</TEXT></DOC>", ["One.\n\nTwo."]),
        ("<DOC><LP>Lead.</LP><TEXT>Rest.</TEXT></DOC>", ["Lead.\n\nRest."]),
        ("<DOC><TEXT>A <ENAMEX>name <NOTE> here.</TEXT></DOC>", ["A name here."]),
        ("<DOC><TEXT>A <NOTE>not this</NOTE> here.</TEXT></DOC>", ["A here."]),
        ("<DOC><TEXT>One.</TEXT></DOC>\n<DOC><TEXT>Two.</TEXT></DOC>", ["One.", "Two."]),
        ('<DOC><TEXT><s num="1">One.</s> <s num="2">Two.</s></TEXT></DOC>', ["One.\n\nTwo."]),
        ("<DOC><TEXT>5 &lt; 6 &GT; 4 &#233; &#xE9; &#0; &nope; A&B</TEXT></DOC>", ["5 < 6 > 4 é é A&B"]),
        ("<DOC><TEXT></TEXT></DOC>", [""]),
        ("<DOC></DOC>", []),
    ],
)
def test_sgml(source, texts):
    assert [document.text for document in parse_sgml(source, "file")] == texts
