"""Clusters of documents, and the files they come in."""
