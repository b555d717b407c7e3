"""Texts as people bring them: words cut at line ends, salutations, and files without an ending."""

from dpplearn.summarize import Cluster


def test_words_cut_at_line_ends_are_joined_and_files_without_an_ending_are_read(tmp_path):
    lines = "The council of Brenn met early in the morn-\ning of Monday to vote on the new bridge, and\nagreed to it."
    for name in ("minutes", "report"):
        (tmp_path / name).write_text(f"{lines}\n\nThe {name} was sent to all members of the council in the evening.\n")
    [*documents] = Cluster.from_files([tmp_path]).documents
    assert len(documents) == 2
    assert all("early in the morning of Monday" in " ".join(document.text.split()) for document in documents)


def test_a_salutation_is_no_title(tmp_path):
    below = "I write about the bridge that the council wants to build. It would cost too much for a town like ours."
    for name, head in (("a.txt", "A new bridge for Brenn"), ("b.txt", "Sir,")):
        (tmp_path / name).write_text(f"{head}\n\n{below}\n")
    assert [document.title for document in Cluster.from_files([tmp_path]).documents] == ["A new bridge for Brenn", None]
