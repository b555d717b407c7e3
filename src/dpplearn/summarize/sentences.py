def split_sentences(text: str) -> list[tuple[int, int]]:
    return []
def is_heading(text: str, start: int, end: int) -> bool:
    return False
