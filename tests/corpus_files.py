"""Small files of corpora."""

import json

RAIN = {"id": "rain", "documents": [{"id": "a", "title": "Rain", "text": "It rained.", "date": "2004", "role": "news"}]}


def lines(*records):
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)
