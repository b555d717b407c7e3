"""Kinds of files that are no plain text: PDF, Word, OpenDocument, EPUB, RTF, e-mail."""
