"""Adapters for retrieval frameworks, each imported by itself: candidates in, fewer and more diverse ones out.

`langchain`, `llamaindex` and `haystack` are thin over `dpplearn.diversify`.
"""
