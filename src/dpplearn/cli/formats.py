"""Items as files, read and written: JSON Lines and arrays, CSV, TSV, Parquet and NumPy arrays."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._holders import check_fields, check_unique
from dpplearn._io.csvfile import csv_rows
from dpplearn._io.encoding import decode, read_lines
from dpplearn._io.jsonlines import json_lines, parse_json
from dpplearn.cli.items import ArrayItems, Items, ParquetItems, Record, Records

ADVICE = "Each line must hold one object."
HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: JSON can hold one, UTF-8 cannot
Name = TypeVar("Name", str, str | None)
FORMATS = ("jsonl", "csv", "parquet", "npz", "tsv", "json", "npy")


def format_of(path: Path, what: str) -> str:
    """The format that the end of a file's name says."""
    if (end := path.suffix.lower().removeprefix(".")) in FORMATS:
        return end
    ends = ", ".join(f".{known}" for known in FORMATS)
    raise ValueError(f"{path} must end in one of {ends}, so that its format is known. {what}")


def need_pyarrow(what: str) -> Any:
    """The module, or an error that says what to do without it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f'{what} needs pyarrow, which is not installed. Run pip install "dpplearn[tables]", or give .jsonl, .csv '
            "or .npz."
        ) from None
    return pyarrow


# Reading


def read_items(path: Path, encoding: str = "utf-8") -> Items:
    """Read items in the format that the end of the file's name says; - is standard input, in JSON Lines."""
    name = str(path)
    if name == "-":
        return read_jsonl(sys.stdin.buffer, "standard input", encoding)
    readers: dict[str, Callable[[], Items]] = {
        "jsonl": lambda: read_jsonl(path, name, encoding),
        "json": lambda: read_json(path, encoding),
        "csv": lambda: read_csv(path, encoding, ","),
        "tsv": lambda: read_csv(path, encoding, "\t"),
        "parquet": lambda: read_parquet(name),
        "npz": lambda: read_npz(name),
        "npy": lambda: read_npy(name),
    }
    return readers[format_of(path, "Rename it.")]()


def read_jsonl(source: Path | BinaryIO, name: str, encoding: str) -> Records:
    found = list(json_lines(source, name, encoding, ADVICE))
    places = [place.removeprefix(f"{name}, ") for place, _, _ in found]
    return Records(name, [record for _, _, record in found], places, lines=[line for _, line, _ in found])


def read_json(path: Path, encoding: str) -> Records:
    """A list of objects."""
    text = decode(path.read_bytes(), path, encoding).removeprefix("\ufeff")
    found = parse_json(text, str(path), advice="For an object in each line, name it .jsonl.")
    if not isinstance(found, list):
        raise ValueError(f"{path} must be a JSON list of objects, found {type(found).__name__}.")
    places = [f"entry {i} (from 0)" for i in range(len(found))]
    for record, place in zip(found, places, strict=True):
        if not isinstance(record, dict):
            raise ValueError(f"{path}, {place} must be an object, found {record!r:.40}.")
    return Records(str(path), found, places)


def read_csv(path: Path, encoding: str, delimiter: str) -> Records:
    rows = csv_rows((line.text() for line in read_lines(path, path, encoding)), path, delimiter)
    names = next(rows, (1, []))[1]
    check_unique(names, f"{path}, line 1")
    found, places = [], []
    for line, cells in rows:
        if cells:
            if len(names) == 1:
                check_commas(names[0], delimiter.join(cells), path)
            if len(cells) != len(names):
                raise ValueError(f"{path}, line {line}: found {len(cells)} cells, and {len(names)} names in line 1.")
            found.append(dict(zip(names, cells, strict=True)))
            places.append(f"line {line}")
    return Records(str(path), found, places, names)


def check_commas(head: str, cell: str, path: Path) -> None:
    """One name, and the row below it, that hold as many semicolons or tabs are many that no commas part."""
    for mark, what in ((";", "semicolons"), ("\t", "tabs")):
        if 0 < head.count(mark) == cell.count(mark):
            raise ValueError(
                f"{path} must have commas between its cells, and has {what}: line 1 is {head!r:.60}. Save it with "
                "commas, or as .tsv with tabs between cells and points in numbers."
            )


def read_parquet(name: str) -> ParquetItems:
    pyarrow = need_pyarrow(f"Reading {name}")
    try:
        file = pyarrow.parquet.ParquetFile(name)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{name} is not a Parquet file, or was cut short: {error}.") from None
    check_fields(file.schema_arrow, name)
    return ParquetItems(name, file)


def read_npz(name: str) -> ArrayItems:
    """Arrays with one row per item; each array is a field."""
    try:
        with open(name, "rb") as opened, np.load(opened, allow_pickle=False) as file:  # it leaves a broken one open
            names = file.files
            arrays = {key: file[key] for key in names}
    except (AttributeError, TypeError):  # an array is no context
        raise ValueError(f"{name} holds one array without a name. Save arrays with np.savez.") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is not a file of NumPy arrays that can be read without pickle: {error}.") from None
    check_unique(names, name)
    sizes = {array.shape[:1] for array in arrays.values()}
    if len(sizes) > 1 or () in sizes:
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise ValueError(f"{name} must hold arrays with one row for each item, found {shapes}.")
    return ArrayItems(name, arrays)


def read_npy(name: str, field: str = "embedding", ndim: int = 2) -> ArrayItems:
    """One array, a row for each item (of one dimension, a number), read where it lies."""
    try:
        array = np.load(name, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{name} is not a NumPy array that can be read without pickle: {error}.") from None
    if not isinstance(array, np.ndarray) or array.ndim != ndim:
        shape, row = getattr(array, "shape", "several arrays"), "a number" if ndim == 1 else "a row of numbers"
        raise ValueError(f"{name} must hold one array with {row} for each item, found {shape}.")
    return ArrayItems(name, {field: array})


def beside(items: Items, named: Name, field: str, ndim: int) -> tuple[Items, Name]:
    """Where a field stands, and its name there: in the items, or in an .npy file that is named in its place."""
    if named is None or named in items.fields or not named.lower().endswith(".npy"):
        return items, named
    found = read_npy(named, field, ndim)
    if found.n != items.n:
        raise ValueError(f"{named} must have a row for each item of {items.name}, {items.n}, but has {found.n}.")
    return found, field


# Writing


def write_items(items: Items, subset: IntArray, wanted: str) -> bytes:
    """Some of the items in a format; lines, and the types of Parquet and NumPy files, stay in a file of their kind."""
    records = items.take(subset)
    writers: dict[str, Callable[[], bytes]] = {
        "jsonl": lambda: write_jsonl(items, subset, records),
        "json": lambda: ("[\n" + ",\n".join(map(as_json, records)) + "\n]\n").encode("utf-8", "backslashreplace"),
        "csv": lambda: write_csv(items, records, ","),
        "tsv": lambda: write_csv(items, records, "\t"),
        "parquet": lambda: write_parquet(items, subset, records),
        "npz": lambda: write_npz(items, subset, records),
        "npy": lambda: write_npy(records),
    }
    try:
        return writers[wanted]()
    except UnicodeEncodeError:
        fields = ((i, *one) for i, record in zip(subset, records, strict=True) for one in record.items())
        i, name = next((i, name) for i, name, value in fields if HALF.search(as_json({name: value})))
        raise ValueError(
            f"{items.place(i)}: the field {name!r} holds half of a character (a lone surrogate), which a "
            f".{wanted} file cannot hold. Mend it, or write .jsonl."
        ) from None


def names_of(items: Items, records: list[Record]) -> list[str]:
    """Every field that a record has; where there is no record, those of the file."""
    return list(dict.fromkeys(name for record in records for name in record)) or items.fields


def as_list(value: Any) -> Any:
    """Arrays and numpy's numbers as Python's own, which for longer floats numpy itself does not give."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return (value.astype(np.float64) if value.dtype.char == "g" else value).tolist()


def as_json(value: Any) -> str:
    """JSON on one line; of what it has no type for, arrays as lists, dates as text."""
    return json.dumps(value, ensure_ascii=False, default=lambda x: as_list(x) if hasattr(x, "tolist") else str(x))


def write_jsonl(items: Items, subset: IntArray, records: list[Record]) -> bytes:
    """Lines as they came where they came as such: 0.10 and 1e2 stay."""
    kept = items.lines if isinstance(items, Records) else None
    lines = map(as_json, records) if kept is None else (kept[i] for i in subset)
    return "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")


def write_csv(items: Items, records: list[Record], delimiter: str) -> bytes:
    """Cells as they are, empty for what is missing; lists and objects as JSON, which `read_items` reads."""
    names, out = names_of(items, records), io.StringIO()

    def cell(value: Any) -> Any:
        return as_json(value) if isinstance(value, list | dict | bool | np.ndarray) else value

    rows = ([cell(record.get(name)) for name in names] for record in records)
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([names, *rows] if names else [])
    return out.getvalue().encode()


def write_parquet(items: Items, subset: IntArray, records: list[Record]) -> bytes:
    pyarrow, out = need_pyarrow("Writing Parquet"), io.BytesIO()
    try:
        if isinstance(items, ParquetItems):
            table = items.table(subset)
        else:
            names = names_of(items, records)
            table = pyarrow.table({name: [as_list(record.get(name)) for record in records] for name in names})
    except (pyarrow.ArrowException, TypeError) as error:
        raise ValueError(f"The items cannot be a Parquet table: {error}. Write .jsonl, which takes anything.") from None
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


def write_npy(records: list[Record]) -> bytes:
    """The embeddings of the items."""
    out = io.BytesIO()
    np.save(out, array_of([as_list(record.get("embedding")) for record in records], "embedding"), allow_pickle=False)
    return out.getvalue()


def write_npz(items: Items, subset: IntArray, records: list[Record]) -> bytes:
    if isinstance(items, ArrayItems):
        arrays = {"item": subset} | {name: array[subset] for name, array in items.arrays.items()}
    else:
        names = names_of(items, records)
        arrays = {name: array_of([record.get(name) for record in records], name) for name in names}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:  # as np.savez, which takes no array called "file"
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)
    return out.getvalue()


def array_of(column: list[Any], name: str) -> Any:
    """An array of numbers, of texts, or of lists of numbers of one length."""
    try:
        array = np.array(column)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    texts = array.dtype.kind == "U" and all(isinstance(value, str) for value in column)
    if not texts and array.dtype.kind not in "biuf":
        raise ValueError(
            f"The field {name!r} cannot be a NumPy array: it must be a number, a text or a list of numbers of one "
            "length in every item. Write .jsonl, which takes anything."
        )
    return array
