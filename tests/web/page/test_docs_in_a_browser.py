"""The documentation site in a browser: what its style sheet does to formulas, code and tables."""

import pytest

# Formulas that scroll up and down, blocks of code wider than their box, and tables wider than the text.
SCROLLING = """() => [...document.querySelectorAll("math")].filter(m =>
  m.scrollHeight > m.clientHeight && /auto|scroll/.test(getComputedStyle(m).overflowY)).length"""
WIDE = """() => [...document.querySelectorAll("pre > code")].filter(c =>
  !c.closest("details") && c.scrollWidth > c.clientWidth).map(c => c.innerText)"""
BEYOND = """() => [...document.querySelectorAll("table")].filter(t => {
  const box = (t.closest(".md-typeset__scrollwrap") || t).getBoundingClientRect();
  return box.right > t.closest("article").querySelector("p").getBoundingClientRect().right + 1;
}).length"""


@pytest.fixture
def shown(browser, site):
    """Every page but the generated ones at a width, with a question asked of it."""

    def shown(width, question):
        page = browser.new_page(viewport={"width": width, "height": 800})
        answers = {}
        for path in sorted(site.glob("*.html")):
            if path.stem not in ("404", "api"):
                page.goto(path.as_uri())
                answers[path.stem] = page.evaluate(question)
        page.close()
        assert len(answers) > 15
        return {name: answer for name, answer in answers.items() if answer}

    return shown


@pytest.mark.parametrize("width", [1280, 390])
def test_no_formula_scrolls_up_and_down(shown, width):
    assert shown(width, SCROLLING) == {}


def test_code_fits_its_box(shown):
    assert shown(1280, WIDE) == {}


def test_tables_stay_between_the_margins_of_a_phone(shown):
    assert shown(390, BEYOND) == {}
