"""Reads and writes files: atomic writing, JSON and CSV with errors that name the place, bytes to text, work folders."""
