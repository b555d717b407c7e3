"""Studies of DPPs against Markov random fields: what docs/mrf.md and docs/dpp-like-mrfs.md show, with the numbers."""
