"""Quality and similarity from one small network, learned end to end from chosen subsets (needs the extra `torch`).

The sets are made up, so the truth is known: quality is a nonlinear function of the observed numbers of an item, and
similarity depends on some of them. `--corpus multiling2011.jsonl` adds ten English topics, seven of them for learning.
"""

import sys

import numpy as np
import torch
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from torch import nn

from dpplearn import ConditionalDPP, ItemSet
from dpplearn.summarize import SentenceFeatures, Summarizer, read_clusters
from dpplearn.summarize.model.oracle import training_targets
from dpplearn.torch import DPPLoss, log_prob_quality, sample, subset_masks

LOSS, COSINE = DPPLoss(nugget=0.1), nn.CosineSimilarity(dim=-1)


def compare(x, v, chosen, items, T, steps, weight_decay):
    """log P of a held-out set under the linear model and under the network, both learned from the first T sets."""
    sets = [ItemSet(a[i].numpy(), phi=b[i].numpy()) for a, b, i in zip(x, v, items, strict=True)]
    y = [np.flatnonzero(c[i]) for c, i in zip(chosen.numpy(), items, strict=True)]
    linear = ConditionalDPP(nugget=LOSS.nugget).fit(sets[:T], y[:T]).score(sets[T:], y[T:])
    torch.manual_seed(0)
    bent = nn.Sequential(nn.Linear(x.shape[-1], 64), nn.Tanh(), nn.Linear(64, 1))
    parts = nn.ModuleList([nn.Linear(x.shape[-1], 1), bent, nn.Linear(v.shape[-1], v.shape[-1], bias=False)]).double()
    optimizer = torch.optim.AdamW(parts.parameters(), lr=0.02, weight_decay=weight_decay)

    def network(x, v):  # log q, and an embedding without a constant, which would make all items alike
        return (parts[0](x) + parts[1](x)).squeeze(-1), parts[2](v)

    for _ in range(steps):
        optimizer.zero_grad()
        LOSS(*network(x[:T], v[:T]), chosen[:T], items[:T]).backward()
        optimizer.step()
    return linear, -LOSS(*network(x[T:], v[T:]), chosen[T:], items[T:]).item(), network


def made_up(T, n=16):
    """Items with five numbers and a constant: quality from the first two, directions from the other three."""
    x = torch.randn(T, n, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    x[..., 5] = 1.0
    log_q, S = torch.sin(2 * x[..., 0]) + x[..., 1].abs() - 1, COSINE(x[:, :, None, 2:5], x[:, None, :, 2:5])
    L = torch.exp(log_q[..., None] + log_q[..., None, :]) * torch.lerp(S, torch.eye(n).double(), LOSS.nugget)
    return x, log_q, S, sample(L, generator=torch.Generator().manual_seed(2))


def english(path):
    """What is seen of sentences, their topics, three extracts of each cluster, and which are no padding."""
    settings = Summarizer(budget=250, unit="words", language="english").settings
    clusters = [one for one in read_clusters(path) if one.language == "english"]
    reads = [*map(SentenceFeatures().fit(clusters).read, clusters)]
    words = TfidfVectorizer(stop_words="english").fit_transform(one.text for read in reads for one in read.sentences)
    topics = np.split(0.01 + TruncatedSVD(50, random_state=0).fit_transform(words), np.cumsum([*map(len, reads)])[:-1])
    rows = [(read.F, V, Y) for read, V in zip(reads, topics, strict=True) for Y in training_targets(read, settings)]
    x, v = (nn.utils.rnn.pad_sequence([torch.tensor(row[c]) for row in rows], batch_first=True) for c in (0, 1))
    return x, v, subset_masks([Y.tolist() for _, _, Y in rows], x.shape[1]), x.any(-1)


def main(sets=600, steps=300, corpus=None):
    x, log_q, S, chosen = made_up(sets + 200)
    linear, found, network = compare(x, x[..., :5], chosen, torch.ones_like(chosen), sets, steps, 0.01)
    truth = log_prob_quality(log_q, S, chosen, nugget=LOSS.nugget)[sets:].mean().item()
    seen, phi = network(x, x[..., :5])
    off = [A[:, ~torch.eye(16).bool()] ** 2 for A in (COSINE(phi[:, :, None], phi[:, None]), S)]  # P(i, j) has S_ij^2
    r = [np.corrcoef(a.detach()[sets:].flatten(), b[sets:].flatten())[0, 1] for a, b in ((seen, log_q), off)]
    print(f"log P of a held-out set: {linear:.2f} linear, {found:.2f} network, {truth:.2f} the truth")
    print(f"correlation of the network's with the true log q {r[0]:.2f}, with the true squared similarities {r[1]:.2f}")
    if corpus:
        linear, found, _ = compare(*english(corpus), T=21, steps=100, weight_decay=1.0)
        print(f"log P of an extract of a held-out English topic: {linear:.2f} linear, {found:.2f} network")


if __name__ == "__main__":
    main(corpus=sys.argv[2] if sys.argv[1:2] == ["--corpus"] else None)
