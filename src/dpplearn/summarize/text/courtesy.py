"""What is said to be polite, or to offer something: no news, however well it is formed."""

from __future__ import annotations

import re

from dpplearn.summarize.text.standing import listed

LONGEST = 10  # words of a greeting, of thanks or of a farewell
_PICTURE = re.compile(r":[a-z_+-]{2,20}:")  # as programs write one: :smile:
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[0-9]+|:")


def is_courtesy(text: str) -> bool:
    """Whether a line greets, thanks or takes leave, in a few words, or is what a page offers: "Quiz: ...".

    Examples
    --------
    >>> lines = "Thanks for the photos!", "okay, can you hear me?", "Quiz: who won?", "Thanks to the pump it is dry."
    >>> [is_courtesy(line) for line in lines]
    [True, True, True, False]
    """
    wordy = len(text.split(None, LONGEST)) > LONGEST
    if wordy and ":" not in text[:120]:
        return False
    words = [word.replace("’", "'") for word in _WORD.findall(_PICTURE.sub("", text[:120].lower()))]
    if words[1:2] == [":"] and words[0] in listed("page labels"):
        return True
    if wordy:
        return False
    for at in range(2 if words and words[0] in listed("interjections") else 1):
        for k in (1, 2, 3, 4):
            if " ".join(words[at : at + k]) in listed("courtesies"):
                return words[at : at + 2] != ["thanks", "to"]
    return False
