def dateline_end(text: str) -> int:
    return 0
