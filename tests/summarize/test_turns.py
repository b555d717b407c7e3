"""Chats and transcripts: what is said, from after its label; what a program says is no text."""

import pytest

from dpplearn.summarize import Cluster, Document

SAID = [
    ("Ines", "the roof of the boathouse is leaking above the workbench"),
    ("Pavel", "I can bring tar and a ladder on Saturday morning."),
    ("Ines", "The ladder must reach five metres, because the gable is high."),
    ("Mo", "we should ask the harbour office before anybody climbs up there"),
    ("Pavel", "The office told me that repairs need no permit."),
]
SHAPES = {
    "whatsapp": ("[{d}/03/2025, 1{d}:0{d}:22] {name}: {text}", "[4/03/2025, 14:02:22] Mo joined using an invite"),
    "android": ("{d}.3.25, 1{d}:0{d} - {name}: {text}", "4.3.25, 14:02 - Mo left"),
    "clock": ("0{d}:12 {name}: {text}", "06:12 Mo pinned a message"),
    "noon": ("{d}:12 PM {name}: {text}", "6:12 PM Mo started a call"),
    "after": ("{name} (00:0{d}:02): {text}", None),
    "own line": ("{name}  {d}:12 AM\n{text}", None),
    "telegram": ("{name}, [0{d}.03.2025 1{d}:05]\n{text}", None),
    "irc with times": ("[1{d}:44] <{name}> {text}", "[15:44] *** Mo has quit"),
    "iso": ("2025-03-0{d} 11:0{d}:09 {name}: {text}", "2025-03-06 11:00:09 recording started"),
    "names": ("{name}: {text}", None),
    "paragraphs": ("\n{name}: {text}\n", None),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_sentences_begin_after_the_label(shape):
    line, program = SHAPES[shape]
    said = [*SAID, ("Ines", "It has leaked since the storm in January."), ("Mo", "That was a bad storm.")]
    lines = [line.format(d=1 + i % 8, name=name, text=text) for i, (name, text) in enumerate(said)]
    if program:
        lines.insert(3, program)
    text = "\n".join(lines)
    cluster = Cluster([Document("chat", text)])
    found = cluster.sentences()
    assert [sentence.text for sentence in found] == [text for _, text in said]
    assert all(text[s.start : s.end] == s.text for s in found)
    aside = {piece.kind for piece in cluster.candidates().set_aside}
    assert aside == ({"byline", "banner"} if program else {"byline"})


@pytest.mark.parametrize(
    "line", ["[14/09/2024, 09:1{}:01] {}: {}", "14/09/2024, 09:1{} - {}: {}", "4.3.25, 9:1{} {}: {}"]
)
def test_a_short_chat_is_one_if_its_times_have_a_day(line):
    said = [*SAID[:4], ("Ida", "I will bring the key of the boathouse.")]
    text = "\n".join(line.format(i, name, words) for i, (name, words) in enumerate(said))
    for lines in (text, "\n".join(text.split("\n")[1:4])):  # nobody speaks twice in the second
        assert not any("14" in s.text or ":" in s.text for s in Cluster.from_texts([lines]).sentences())
    agenda = "09:00 Mayor: opening of the hall.\n09:30 Choir: songs of the sea.\n10:00 Lunch: soup is free for all."
    assert Cluster.from_texts([agenda]).sentences()[0].text.startswith("09:00")


@pytest.mark.parametrize(
    "text",
    [
        "At 09:12 the alarm rang. It rang again at 10:30.",
        "Belzig: the well is dry.\nTorre: the river is low.\nAubry: the dam is full.",  # once each: no speakers
        "Note: the pier is closed on Monday.\n\nThe ferry sails from the north.\n\nNote: dogs travel free of charge.",
        "The talks failed: nobody signed. He said: never again.",
    ],
)
def test_a_colon_or_a_time_makes_no_conversation(text):
    kept = " ".join(s.text for s in Cluster.from_texts([text]).sentences(keep_all=True))
    assert kept == " ".join(text.split())
