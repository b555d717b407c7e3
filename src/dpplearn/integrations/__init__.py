"""Adapters for retrieval frameworks: `langchain`, `llamaindex` and `haystack`, each imported by itself.

All of them are thin over `dpplearn.diversify`: candidates in, fewer and more diverse ones out, each with a note
of the candidates that were skipped and stand nearest to it.
"""
