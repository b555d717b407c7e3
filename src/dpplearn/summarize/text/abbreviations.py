"""Words with a period that need not end a sentence, by what may follow them: in lower case, without the period."""

from dpplearn.summarize.text.words import word_lists

_LISTS = word_lists("abbreviations")  # where it is said what each is

TITLES, NEVER = _LISTS["titles"], _LISTS["never"]
NUMBERED, PARTS = _LISTS["numbered"], _LISTS["parts"]
SUFFIXES, CAPITALIZED = _LISTS["suffixes"], _LISTS["capitalized"]
MONTHS, DAYS, ZONES = _LISTS["months"], _LISTS["days"], _LISTS["zones"]
DATES = MONTHS | DAYS | _LISTS["calendar"]
GERMAN_MONTHS, BEFORE_ORDINALS = _LISTS["german months"], _LISTS["before ordinals"]
FOREIGN_STARTERS = _LISTS["foreign starters"]
STARTERS, ARTICLES, PRONOUNS, SPEECH = (_LISTS[name] for name in ("starters", "articles", "pronouns", "speech"))
ALL = (
    TITLES | NEVER | NUMBERED | PARTS | SUFFIXES | CAPITALIZED | DATES
)  # words after which a period need not end a sentence
