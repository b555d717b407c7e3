"""One look at the characters of pieces of a text: which are plain sentences, and what letters they have."""

import numpy as np

from dpplearn._numba import exact

LINE, PLAIN = 1, 2  # what is said of a piece: it is on one line; it is a plain sentence
BITS = 1 << 18  # places of words, or of two in a row
LABEL = 26  # characters in which the colon of a label is
TAIL = 12  # characters among which a stop may be, before what closes
# What a paper is filed under begins so, in languages that use no accents there; whose answers begin with these.
FILED = np.array([(ord(a) * 128 + ord(b)) * 128 + ord(c) for a, b, c in ("key", "ind", "mot", "sch", "pal", "par")])
ANSWERS = np.array([ord(c) for c in "ynjos"])
BULLETS = np.array([ord(c) for c in "*+->([\u2013\u2014"])
QUOTES = np.array([ord(c) for c in "\u2018\u2019\u201c\u201d\u2013\u2014"])  # and dashes: read as in ASCII
CLOSING = np.array([ord(c) for c in ")]}\"' \u2019\u201c\u201d"])


@exact
def is_letter(c):
    return c < 128 and 97 <= (c | 32) <= 122


@exact
def is_one_of(c, some):
    found = False
    for k in range(some.size):
        found = found or c == some[k]
    return found


@exact
def past_letters(codes, start, stop):
    """Where the letters from an offset on end."""
    while start < stop and is_letter(codes[start]):
        start += 1
    return start


@exact
def hashed(codes, start, stop):
    """A number for a word, whatever its case, which is not 0."""
    found = np.int64(2166136261)
    for a in range(start, stop):
        found = ((found ^ (np.int64(codes[a]) | 32)) * 16777619) & 0xFFFFFFFF
    return (found ^ (found >> 15)) | (1 << 32)


@exact
def place_of(before, word):
    """The bit of a word after another; of one alone, after 0."""
    return (before * 31 + word) & (BITS - 1)


@exact(steps=lambda codes: codes.size)
def bits_of(codes, ends):
    """The bits of phrases codes[ends[k]:ends[k + 1]]: of their first two words, or of the only one."""
    bits = np.zeros(BITS, np.bool_)
    for k in range(ends.size - 1):
        middle = past_letters(codes, ends[k], ends[k + 1])
        word, second = hashed(codes, ends[k], middle), middle + 1
        if second < ends[k + 1]:
            bits[place_of(word, hashed(codes, second, past_letters(codes, second, ends[k + 1])))] = True
        else:
            bits[place_of(0, word)] = True
    return bits


@exact
def opens_plainly(codes, start, stop):
    """Whether neither a label, nor an answer ("No, ..."), nor what a paper is filed under can begin so."""
    if is_one_of(codes[start], BULLETS):
        return False
    if 48 <= codes[start] <= 57:
        for a in range(start, stop):
            if codes[a] <= 32:
                return True
            if codes[a] == 46 or codes[a] == 41:  # a number of a list
                return False
    end = past_letters(codes, start, stop)
    if end == stop or codes[end] == 41 or (codes[end] > 32 and is_one_of(codes[start] | 32, ANSWERS)):
        return False
    head = np.int64(0)
    for a in range(start, min(start + 3, end)):
        head = 128 * head + (np.int64(codes[a]) | 32)
    return not is_one_of(head, FILED)


@exact
def is_closed(codes, start, stop):
    """Whether a piece ends with a stop, but for what closes after it."""
    for a in range(stop - 1, max(start, stop - TAIL) - 1, -1):
        if codes[a] == 46 or codes[a] == 33 or codes[a] == 63:
            return True
        if not is_one_of(codes[a], CLOSING):
            return False
    return False


@exact(steps=lambda codes: 4 * codes.size)
def look_at_pieces(codes, starts, ends, listed, heads, long, wordy, longest):
    """Tell of each piece codes[starts[i]:ends[i]] whether it is on one LINE, and whether it is a PLAIN sentence.

    A plain sentence has at least `long` words, of which neither one nor two in a row have a bit in `listed`, and at
    most `longest` characters; it is closed, opens plainly, and has no [ nor a colon after its first word or label. One
    that is not `wordy` has no colon, and does not begin with a word of `heads`.
    """
    found = np.zeros(starts.size, np.uint8)
    for i in range(starts.size):
        start, stop, spaces, size = starts[i], ends[i], 0, 0
        seen = stop > start and codes[start] > 32 and codes[stop - 1] > 32
        line, plain, colon, two, word, told = seen, seen, False, False, start, 0
        before, first = np.int64(0), np.int64(0)  # the word before, and the first of all
        for a in range(start, stop):
            c = codes[a]
            if is_letter(c):
                size += 1
                continue
            if word < a:
                own = hashed(codes, word, a)
                plain = plain and not listed[place_of(0, own)] and not listed[place_of(before, own)]
                if first == 0:
                    first, told = own, spaces
                two, before = two or spaces > told, own
            word = a + 1
            if c == 32 or 9 <= c <= 13:
                line = line and c == 32 and codes[a - 1] != 32
                if codes[a - 1] != 32 and not 9 <= codes[a - 1] <= 13:
                    spaces += 1
                    size += 1
                continue
            before = np.int64(0)  # a sign stands between words
            size += 1
            if c == 58:
                colon = True
                plain = plain and size > LABEL and two
            elif c == 91:
                plain = False
            elif c < 32 or c > 126:
                line = False
                if not is_one_of(c, QUOTES):
                    plain = False
                    break
            elif first == 0 and 48 <= c <= 57:
                first = np.int64(-1)
        plain = plain and size <= longest and spaces + 1 >= long and is_closed(codes, start, stop)
        if plain and spaces + 1 < wordy:
            plain = not colon and first > 0 and not heads[place_of(0, first)]
        plain = plain and opens_plainly(codes, start, stop)
        found[i] = (LINE if line else 0) + (PLAIN if plain else 0)
    return found


@exact(steps=lambda codes: 4 * codes.size)
def letter_keys(codes, starts, ends, most):
    """For each piece a number of its first letters and figures, so many; -1 where these are not all ASCII."""
    keys = np.empty(starts.size, np.int64)
    for i in range(starts.size):
        one, other, left = np.int64(2166136261), np.int64(5381), most
        for a in range(starts[i], ends[i]):
            c = np.int64(codes[a])
            if c > 127 and not 0x2000 <= c <= 0x206F:  # which are quotes, dashes and spaces
                one, other = np.int64(-1), np.int64(0)
                break
            if is_letter(c) or 48 <= c <= 57:
                c = c | 32
                one = ((one ^ c) * 16777619) & 0xFFFFFFFF
                other = ((other + c) * 1000003) & 0x7FFFFFFF
                left -= 1
                if left == 0:
                    break
        keys[i] = -1 if one < 0 else (one << 31) ^ other
    return keys
