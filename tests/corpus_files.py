"""Small files of corpora."""

import json

RAIN = {"id": "rain", "documents": [{"id": "a", "title": "Rain", "text": "It rained.", "date": "2004", "role": "news"}]}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(*records):
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)
