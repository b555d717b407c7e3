"""Systems side by side: the baselines of the paper, a corpus scored, its tables."""
