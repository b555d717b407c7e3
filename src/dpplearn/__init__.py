"""Learn, from examples of good subsets, to choose the best set under a budget."""
