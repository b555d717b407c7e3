"""Tokens of texts as numbers: a look or two at each byte, and a table of those that were seen.

Rules are those of `dpplearn.summarize.text.words` for ASCII (WORDS), of ROUGE (PLAIN), or a space after each (READY).
"""

import numpy as np

from dpplearn._numba import exact

WORDS, PLAIN, READY = range(3)
DIGIT, LETTER = 1, 2  # what a byte is; all else is 0
COMMA, PERIOD, QUOTE, S = 44, 46, 39, 115


@exact
def is_thousands(data, at, end):
    """Whether the comma after a digit stands before three digits and no more."""
    if at + 3 >= end:
        return False
    for j in range(at + 1, at + 4):
        if not 48 <= data[j] <= 57:
            return False
    return at + 4 >= end or not 48 <= data[at + 4] <= 57


@exact
def past_part(text, kind, at, end):
    """The end of the letters and digits from an offset on."""
    while at < end and kind[text[at]] > 0:
        at += 1
    return at


@exact
def next_word(text, kind, at, end):
    """Where a word that begins here ends, and where to go on: after a final 's, which is left out."""
    if kind[text[at]] == LETTER:
        stop = at + 1
        while stop + 1 < end and text[stop] == PERIOD and kind[text[stop + 1]] == LETTER:
            if stop + 2 < end and kind[text[stop + 2]] > 0:
                break
            stop += 2  # letters with periods between them: u.s
        if stop > at + 1:
            has_s = stop + 2 < end and text[stop] == PERIOD and text[stop + 1] == QUOTE and text[stop + 2] == S
            return stop, stop + 3 if has_s else stop
        stop = last = past_part(text, kind, stop, end)
        while stop + 1 < end and text[stop] == QUOTE and kind[text[stop + 1]] > 0:
            last, stop = stop, past_part(text, kind, stop + 1, end)
        return (last if stop == last + 2 and text[last] == QUOTE and text[last + 1] == S else stop), stop
    stop = at + 1
    while stop < end and kind[text[stop]] == DIGIT:
        stop += 1
    while stop + 1 < end and (text[stop] == PERIOD or text[stop] == COMMA) and kind[text[stop + 1]] == DIGIT:
        stop += 1
        while stop < end and kind[text[stop]] == DIGIT:
            stop += 1
    stop = past_part(text, kind, stop, end)
    return stop, stop


@exact
def find(table, known, code, text, start, stop):
    """The place of a token in the table, or where it would be."""
    place = code & (table.size - 1)
    while table[place] >= 0:
        k = table[place]
        if known[k, 2] == code and known[k, 1] - known[k, 0] == stop - start:
            shift, a = known[k, 0] - start, start
            while a < stop and text[a] == text[a + shift]:
                a += 1
            if a == stop:
                return place
        place = (place + 1) & (table.size - 1)
    return place


@exact(steps=lambda data: 4 * data.size)
def number_tokens(data, ends, rule, kinds, kept, seed):
    """Number the tokens of texts in the order in which they occur first.

    Text i is data[ends[i]:ends[i + 1]], of which a byte b is kinds[rule[i], b] and kept as kept[rule[i], b]. `seed`
    says where in the table tokens go, so that nobody can write a text whose tokens all go to one place; no result
    depends on it.

    Returns the number of each token, where in these each text ends, the bytes of each number with a space after them,
    and how many characters these are.
    """
    most = (data.size + ends.size) // 2 + 1
    numbers, stops = np.empty(most, np.int64), np.zeros(ends.size, np.int64)
    known, text = np.empty((most, 3), np.int64), np.empty(data.size, np.uint8)
    spelled, letters, used = np.empty(data.size + ends.size, np.uint8), np.zeros(most), 0
    table = np.full(4096, -1, np.int64)
    count, size, end = 0, 0, 0
    for i in range(ends.size - 1):
        kind, keep, at = kinds[rule[i]], kept[rule[i]], end
        for j in range(ends[i], ends[i + 1]):
            comma = rule[i] == WORDS and data[j] == COMMA and j > ends[i] and kind[data[j - 1]] == DIGIT
            if not (comma and is_thousands(data, j, ends[i + 1])):
                text[end] = keep[data[j]]
                end += 1
        while at < end:
            if kind[text[at]] == 0:
                at += 1
                continue
            start = at
            if rule[i] == WORDS:
                stop, at = next_word(text, kind, at, end)
            else:
                stop = at = past_part(text, kind, at, end)
            code = seed
            for a in range(start, stop):
                code = ((code ^ np.int64(text[a])) * 16777619) & 0xFFFFFFFF
            code ^= code >> 15
            place = find(table, known, code, text, start, stop)
            if table[place] < 0:
                known[size, 0], known[size, 1], known[size, 2], table[place] = start, stop, code, size
                for a in range(start, stop):
                    spelled[used] = text[a]
                    letters[size] += (text[a] & 0xC0) != 0x80  # not one that goes on with a character
                    used += 1
                spelled[used] = 32
                used += 1
                size += 1
            numbers[count] = table[place]
            count += 1
            if 2 * size > table.size:  # a larger one, with the same tokens
                table = np.full(4 * table.size, -1, np.int64)
                for k in range(size):
                    table[find(table, known, known[k, 2], text, known[k, 0], known[k, 1])] = k
        stops[i + 1] = count
    return numbers[:count].copy(), stops, spelled[:used].copy(), letters[:size].copy()
