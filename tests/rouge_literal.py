"""ROUGE-1.5.5 as its description reads, one step after the other: slow, and what the fast code must equal."""

import re
from collections import Counter

from dpplearn.rouge.stems import stem as official_stem


def chunk_count(line):
    return len(re.split(rb"[ \t\n\r\f\v]+", line.rstrip(b" \t\n\r\f\v"))) if line.strip() else 0


def read(text, n_bytes, n_words, advance=True):
    kept, c = [], 0
    for line in text.encode().split(b"\n"):
        if len(line) == 0:
            continue
        if n_bytes is not None:
            if c + len(line) >= n_bytes:
                kept.append(line[: n_bytes - c])
                break
            c += len(line) if advance else 0
        if n_words is not None:
            if c + chunk_count(line) >= n_words:
                kept.append(b" ".join(re.split(rb"[ \t\n\r\f\v]+", line)[: n_words - c]))
                break
            c += chunk_count(line)
        kept.append(line)
    return kept


def tokens(line, stem):
    found = [token.decode() for token in re.findall(rb"[a-z0-9]+", line.lower())]
    return [official_stem(token) for token in found] if stem else found


def grams(name, t):
    if name == "rouge-su4":
        found = []
        for i in range(len(t) - 1):
            found.append((t[i],))
            found += [(t[i], t[j]) for j in range(i + 1, min(i + 5, len(t) - 1) + 1)]
        return Counter(found)
    n = int(name.removeprefix("rouge-"))
    return Counter(tuple(t[i : i + n]) for i in range(len(t) - n + 1))


def marks(ref, cand, w):
    """Positions of ref on the longest common subsequence with cand, by the full table."""
    m, n = len(ref), len(cand)
    cell = [[0.0] * (n + 1) for _ in range(m + 1)]
    run = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if ref[i - 1] == cand[j - 1]:
                k = run[i - 1][j - 1]
                cell[i][j] = cell[i - 1][j - 1] + (k + 1) ** w - k**w
                run[i][j] = k + 1
            else:
                cell[i][j] = max(cell[i - 1][j], cell[i][j - 1])
    found, i, j = set(), m, n
    while i > 0 and j > 0:
        if ref[i - 1] == cand[j - 1]:
            found.add(i - 1)
            i, j = i - 1, j - 1
        elif cell[i - 1][j] >= cell[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found


def subsequence(ref_lines, ref_tokens, cand_lines, cand_tokens, w):
    """Hits, hits by runs, and the sum over lines of length^w."""
    left = Counter(ref_tokens), Counter(cand_tokens)
    hits, weighted, lengths = 0, 0.0, 0.0
    for ref in ref_lines:
        marked = set().union(*(marks(ref, cand, w) for cand in cand_lines)) if cand_lines else set()
        run = 0
        lengths += len(ref) ** w
        for i in sorted(marked):
            if left[0][ref[i]] > 0 and left[1][ref[i]] > 0:
                left[0][ref[i]] -= 1
                left[1][ref[i]] -= 1
                hits, run = hits + 1, run + 1
                if i + 1 not in marked:
                    weighted, run = weighted + run**w, 0
    return hits, weighted, lengths


def five(x):
    return float(f"{x:.5f}")


def triple(r, p, alpha=0.5):
    r, p = five(r), five(p)
    below = (1 - alpha) * p + alpha * r
    return r, p, five(p * r / below if below else 0.0)


def divide(a, b):
    return a / b if b else 0.0


def literal_score(candidate, references, name, n_bytes=None, n_words=None, stem=True, combine="average"):
    limits = n_bytes, n_words
    cand = [t for line in read(candidate, *limits) for t in tokens(line, stem)]
    refs = [[t for line in read(text, *limits) for t in tokens(line, stem)] for text in references]
    if not name.startswith(("rouge-l", "rouge-w")):
        c = grams(name, cand)
        rows = [((c & grams(name, ref)).total(), grams(name, ref).total()) for ref in refs]
        if combine == "best":
            rows = [max(rows, key=lambda row: five(divide(*row)))]
        hits, total = sum(h for h, _ in rows), sum(t for _, t in rows)
        return triple(divide(hits, total), divide(hits, len(rows) * c.total()))
    w = 1.0 if name == "rouge-l" else float(name.removeprefix("rouge-w-"))
    cand_lines = [tokens(line, stem) for line in read(candidate, *limits, advance=n_bytes is None)]
    rows = []
    for text, ref in zip(references, refs, strict=True):
        lines = [tokens(line, stem) for line in read(text, *limits, advance=n_bytes is None)]
        hits, weighted, lengths = subsequence(lines, ref, cand_lines, cand, w)
        rows.append((hits if name == "rouge-l" else weighted, lengths))
    if combine == "best":
        rows = [max(rows, key=lambda row: divide(*row) ** (1 / w))]
    above = below = 0.0
    for hits, lengths in rows:
        above, below = above + hits, below + lengths**w
    return triple(divide(above, below) ** (1 / w), divide(above, len(rows) * len(cand) ** w) ** (1 / w))


def literal_average(triples, confidence, resamples):
    """Average, low and high of each column, drawn with drand48 in plain integers."""
    n, means = len(triples), []
    for s in range(resamples):
        X, sums = (s << 16) + 0x330E, [0.0, 0.0, 0.0]
        for _ in range(n):
            X = (X * 0x5DEECE66D + 0xB) % 2**48
            sums = [a + b for a, b in zip(sums, triples[n * X // 2**48], strict=True)]
        means.append([a / n for a in sums])
    found = []
    for column in zip(*means, strict=True):
        v = sorted(column)
        d = resamples * (100 - confidence) / 200
        u = resamples - d - 1
        fr = u - int(u)
        bounds = [five(v[int(k)] + fr * (v[int(k) + 1] - v[int(k)])) for k in (d, u)]
        found.append((five(sum(v) / resamples), *bounds))
    return found
