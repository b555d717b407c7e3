"""One HTML file with the summary, the reasons, and the sources with the chosen sentences marked."""

from __future__ import annotations

from html import escape

from dpplearn.summarize.explain.summary import Summary
from dpplearn.summarize.text.units import measured

STYLE = """
:root { color-scheme: light dark; --mark: #cfe8ff; --dim: #f3e3c3; --line: #8886; }
@media (prefers-color-scheme: dark) { :root { --mark: #114a75; --dim: #57461f; } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem } h3 { font-size: 1rem; margin: 0 0 .4rem }
mark { background: var(--mark); color: inherit; padding: .1em .15em; border-radius: .2em }
mark.again { background: var(--dim) }
ol li { margin: .4rem 0 } a { color: inherit } small { opacity: .75 }
.sources { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)) }
article { border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; white-space: pre-line }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .3rem .6rem; vertical-align: top;
border-top: 1px solid var(--line) } td.n { font-variant-numeric: tabular-nums; white-space: nowrap }
"""

LEGEND = (
    "A name alone is the feature&#8217;s raw value; &#8220;5/5&#8221; is its highest fifth of all training sentences, "
    "&#8220;5/5 of cluster&#8221; of these documents&#8217; sentences. The terms of a sentence add up to "
    "2 log quality; the six largest are shown."
)


def html_report(summary: Summary, title: str = "Summary") -> str:
    """A page that needs nothing else: no script, nothing loaded from elsewhere."""
    documents = summary.read.cluster.documents
    explanation = summary.explain()
    number = {(s.document, s.start): k for k, s in enumerate(summary.sentences, 1)}
    again = {(x.sentence.document, x.sentence.start) for x in explanation.redundant()}

    def name(index: int) -> str:
        document = documents[index]
        return escape(document.title or document.id)

    lines = [
        "<!doctype html>",
        '<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(title)}</title><style>{STYLE}</style><h1>{escape(title)}</h1>",
        f"<p><small>{len(summary.sentences)} sentences of {len(summary.read.sentences)} from {len(documents)} "
        f"documents, {summary.length:g} of {escape(measured(summary.budget, summary.unit))}.</small></p>",
    ]
    if summary.note:
        lines.append(f"<p>{escape(summary.note)}</p>")
    lines.append("<ol>")
    for k, (sentence, line) in enumerate(zip(summary.sentences, summary.text.split("\n"), strict=True), 1):
        lines.append(
            f'<li dir="auto">{escape(line)} <small><a href="#s{k}">{name(sentence.document)}, '
            f"sentence {sentence.position}</a></small></li>"
        )
    lines.append(
        "</ol><h2>Why these</h2><table><tr><th>Sentence<th>Quality<th>Probability<th>What its quality is made of"
    )
    for k, c in enumerate(explanation.chosen, 1):
        parts = ", ".join(f"{escape(feature)} {value:+.2f}" for feature, value in list(c.contributions.items())[:6])
        lines.append(f'<tr><td class="n">{k}<td class="n">{c.quality:.3f}<td class="n">{c.marginal:.0%}<td>{parts}')
    lines.append(f"</table><p><small>{LEGEND}</small></p>")
    if explanation.left_out:
        lines.append(
            "<h2>Good sentences left out</h2><table><tr><th>Sentence<th>Quality<th>Already said<th>Most like sentence"
            "<th>Why left out"
        )
        for x in explanation.best_left_out():
            k = number[x.similar_to.document, x.similar_to.start]
            lines.append(
                f"<tr><td>{escape(x.sentence.text)} <small>{name(x.sentence.document)}</small>"
                f'<td class="n">{x.quality:.3f}'
                f'<td class="n">{x.redundancy:.0%}<td class="n">{k} ({x.similarity:.2f} similar)<td>{escape(x.reason)}'
            )
        lines.append("</table>")
    lines.append('<h2>Sources</h2><p><small><mark>in the summary</mark> <mark class="again">good, but partly said '
                 'already</mark></small></p><div class="sources">')  # fmt: skip
    for index, document in enumerate(documents):
        body = marked(summary, index, document.text, number, again)
        lines.append(f'<article dir="auto"><h3>{name(index)}</h3>{body}</article>')
    lines.append("</div></html>")
    return "\n".join(lines)


Place = tuple[int, int]  # document and start


def marked(summary: Summary, index: int, text: str, number: dict[Place, int], again: set[Place]) -> str:
    """The document's text with its chosen and its redundant sentences marked."""
    out, end = [], 0
    for sentence in summary.read.sentences:
        key = (sentence.document, sentence.start)
        if sentence.document != index or (key not in number and key not in again):
            continue
        out.append(escape(text[end : sentence.start]))
        span = escape(text[sentence.start : sentence.end])
        out.append(
            f'<mark id="s{number[key]}">{span}</mark>' if key in number else f'<mark class="again">{span}</mark>'
        )
        end = sentence.end
    out.append(escape(text[end:]))
    return "".join(out)
