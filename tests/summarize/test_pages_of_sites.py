"""What wikis, blogs, forums and mailers put around a text: no running text, unless it is all there is."""

import pytest

from dpplearn.summarize.text.blocks import RUNNING
from dpplearn.summarize.text.page import read_html

STORY = "<p>The mill at Orrin burned down on Sunday, and two firemen were hurt. Nobody knows yet how it began.</p>"


def running(source):
    return [" ".join(text.split()) for kind, text in read_html(source)[0] if kind in RUNNING]


@pytest.mark.parametrize(
    "around",
    [
        '<div class="hatnote">For the village, see Orrin Parva.</div>',
        '<table class="metadata ambox"><tr><td>This page lacks sources. You can help to add some.</td></tr></table>',
        '<div id="siteNotice"><p>Give us the price of a bun today.</p></div>',
        '<div class="thumbcaption">The mill in the year 1920.</div>',
        '<div class="reflist"><ol class="references"><li>^ Ash, P. (1987). Mills. Leeds: Heron.</li></ol></div>',
        '<ol class="references"><li>^ Ash, P. (1987). Mills of the north are old. Leeds: Heron.</li></ol>',
        '<table class="infobox"><tr><td>The mill was built in 1790.</td></tr></table>',
        '<div id="comments"><ol class="comment-list"><li><p>I used to play there as a child.</p></li></ol></div>',
        '<div id="respond"><p>Your address will be kept secret.</p></div>',
        '<div id="disqus_thread"><p>What a pity, it was so pretty.</p></div>',
        '<div class="jp-relatedposts"><p>Ten mills that you must see this year.</p></div>',
        '<p class="affiliate-disclosure">We may earn something when you buy.</p>',
        '<div class="author-box"><p>Ola has written about mills for years and lives in one.</p></div>',
        '<div class="gmail_signature">Ola Berg sells mills to people who want them.</div>',
        '<div class="moz-signature">Ola Berg sells mills to people who want them.</div>',
        '<div id="Signature"><p>Ola Berg sells mills to people who want them.</p></div>',
    ],
)
def test_what_stands_around_a_story_is_not_part_of_it(around):
    assert running(f"<html><body><div>{STORY}{around}</div></body></html>") == running(STORY)


@pytest.mark.parametrize(
    "mark",
    [
        '<sup class="reference"><a href="#n1"><span class="b">[</span>1<span>]</span></a></sup>',
        '<sup class="reference">: 12 </sup>',
        '<sup class="noprint Inline-Template">[<i><a>citation needed</a></i>]</sup>',
        '<sup><a href="#fn3">3</a></sup>',
        "<sup>[b]</sup>",
        '<span class="mw-editsection">[<a href="x">edit</a>]</span>',
    ],
)
def test_marks_of_notes_are_dropped(mark):
    source = f"<p>The mill was sold.{mark}{mark} It stood empty.{mark}</p>"
    assert running(source) == ["The mill was sold. It stood empty."]
