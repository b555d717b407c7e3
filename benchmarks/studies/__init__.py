"""Studies that compare DPPs with Markov random fields, for docs/mrf.md and docs/dpp-like-mrfs.md."""
