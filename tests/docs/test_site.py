"""The documentation site builds offline, says everything public, and no link in it or in the sources is broken."""

import ast
import importlib
import pkgutil
import re
import shutil
from html import unescape
from urllib.parse import unquote, urlsplit

import pytest
from benchmarks import report
from markdown.extensions.toc import slugify

import dpplearn
from docs_site import ROOT, build

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*DOCS, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md"))]


class Page:
    """The HTML of a page, its ids, what it links to, what it loads, and its text outside code."""

    def __init__(self, html):
        self.html = html
        self.ids = {*map(unescape, re.findall(r'\s(?:id|name)="([^"]+)"', html))}
        self.links = [*map(unescape, re.findall(r'<a\s[^>]*?href="([^"]+)"', html))]
        self.loads = re.findall(r'<(?:script|img|iframe|source|audio|video|embed)\s[^>]*?src="([^"]+)"', html)
        self.loads += re.findall(r'<link(?![^>]*rel="(?:canonical|prev|next)")[^>]*?href="([^"]+)"', html)
        outside = re.sub(r"<(code|script|style|pre)\b.*?</\1>", "", html, flags=re.DOTALL)
        self.text = re.sub(r"<[^>]*>", "", outside)


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_is_built_and_in_the_navigation(site):
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in DOCS:
        name = path.relative_to(ROOT / "docs").as_posix()
        assert re.search(rf": {re.escape(name)}$", navigation, re.MULTILINE), f"{name} is not in mkdocs.yml"
        assert (site / name).with_suffix(".html").exists()
    how_to = re.findall(r"(\S+\.md)$", navigation.partition("How to:")[2].partition("- API:")[0], re.MULTILINE)
    assert 0 < len(how_to) <= 12
    for name in how_to:
        assert len((ROOT / "docs" / name).read_text(encoding="utf-8").splitlines()) <= 250, f"{name} is too long"


def test_nothing_is_loaded_from_elsewhere(site, pages):
    for path, page in pages.items():
        for target in page.loads:
            assert not urlsplit(target).netloc, f"{path.name} loads {target}"
            if not target.startswith("data:"):
                assert resolve(path, target, site).exists(), f"{path.name} loads {target}, which is not there"
        fetching = r'class="[^"]*\b(mermaid|glightbox|pyodide|tabbed-ace)\b'  # the theme's script would fetch its own
        assert not re.search(fetching, page.html), path.name
    for path in site.rglob("*.css"):
        for target in re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')]+)", path.read_text(encoding="utf-8")):
            assert target.startswith(("data:", "#")) or not urlsplit(target).netloc, f"{path.name} loads {target}"


def test_links_of_the_site(site, pages):
    """Pages and anchors; other hosts cannot be asked here."""
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = resolve(path, link, site)
            assert target.exists(), f"{path.name} links to {link}, which is not there"
            if parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in pages[target].ids, f"{path.name} links to {link}: no such anchor"


def resolve(path, link, site):
    name = unquote(urlsplit(link).path)
    if not name:
        return path
    target = (site / name.lstrip("/") if name.startswith("/") else path.parent / name).resolve()
    return target / "index.html" if target.is_dir() else target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_of_the_sources(path):
    """In the files themselves, as they are read on a code host: relative links and anchors of headings."""
    text = without_code(path.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = path.parent / unquote(parts.path) if parts.path else path
        assert target.exists(), f"{path.name} links to {link}, which is not there"
        if parts.fragment:
            assert parts.fragment in anchors(target), f"{path.name} links to {link}: no such heading"


def anchors(path):
    text = path.read_text(encoding="utf-8")
    included = re.findall(r'^--8<-- "(.+)"$', without_code(text), re.MULTILINE)
    text += "".join((ROOT / name).read_text(encoding="utf-8") for name in included)
    titles = re.findall(r"^#+ (.+)$", without_code(text), re.MULTILINE)
    return {slugify(re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", title), "-") for title in titles}


def without_code(text):
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)


def test_formulas_are_drawn(pages):
    """Every formula is MathML, with no command left in it, and none is left as text."""
    formulas = 0
    for path, page in pages.items():
        drawn = re.findall(r"<math.*?</math>", page.html, re.DOTALL)
        formulas += len(drawn)
        assert not any("\\" in formula for formula in drawn), path.name
        assert "arithmatex" not in page.html, path.name
        assert not re.search(r"\\[(\[]|\$[^$\n]+\$|\\(frac|det|sum|theta)", page.text), path.name
    assert formulas > 50


@pytest.mark.parametrize(
    ("text", "message"),
    [("A formula, $\\nosuchcommand x$.", "nosuchcommand"), ("A [link](nowhere.md).", "does not exist")],
)
def test_a_fault_stops_the_build(text, message, tmp_path):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Home\n\n{text}\n")
    extensions = "markdown_extensions:\n  - pymdownx.arithmatex:\n      generic: true\n  - mathml\n"
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\n{extensions}")
    done = build(tmp_path)
    assert done.returncode != 0
    assert message in done.stdout + done.stderr


def public_names():
    """Return the names in `__all__` of every room, and the adapters; torch and their frameworks are not installed."""
    rooms = [
        m.name for m in pkgutil.iter_modules(dpplearn.__path__) if not m.name.startswith("_") and m.name != "torch"
    ]
    modules = [dpplearn, *(importlib.import_module(f"dpplearn.{room}") for room in rooms)]
    names = {name for module in modules for name in getattr(module, "__all__", ())}
    tensors = ast.parse((ROOT / "src" / "dpplearn" / "torch" / "__init__.py").read_text(encoding="utf-8"))
    for node in tensors.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names |= set(ast.literal_eval(node.value))
    for path in (ROOT / "src" / "dpplearn" / "integrations").glob("[!_]*.py"):
        names |= set(re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE))
    return names


def test_api_has_every_public_name(site, pages):
    documented = set()
    for path in (ROOT / "docs" / "api").glob("*.md"):
        names = set(re.findall(r"^::: (\S+)$", path.read_text("utf-8"), re.MULTILINE))
        ids = pages[site / "api" / path.with_suffix(".html").name].ids
        assert names <= ids, f"no docstring was found for {sorted(names - ids)}"
        documented |= {name.rpartition(".")[2] for name in names}
    assert public_names() <= documented, f"docs/api lacks {sorted(public_names() - documented)}"


def test_benchmark_tables_are_those_of_the_results():
    assert report.page() == (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
