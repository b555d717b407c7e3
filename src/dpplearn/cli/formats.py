"""Items as files, read and written: JSON Lines and arrays, CSV, TSV, Parquet and NumPy arrays."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from dpplearn._checks import IntArray
from dpplearn._holders import check_unique
from dpplearn._io.csvfile import csv_rows
from dpplearn._io.encoding import decode, read_lines
from dpplearn._io.jsonlines import json_lines, parse_json
from dpplearn.cli.items import Items
from dpplearn.cli.parquet import ParquetItems, as_list, need_pyarrow, read_parquet, write_parquet

ADVICE = "Each line must hold one object."
HALF = re.compile("[\ud800-\udfff]")  # of a surrogate pair: JSON can hold one, UTF-8 cannot
Records = list[dict[str, Any]]


def format_of(path: Path, what: str) -> str:
    """The format that the end of a file's name says."""
    if path.suffix.lower().removeprefix(".") in FORMATS:
        return path.suffix.lower().removeprefix(".")
    ends = ", ".join(f".{known}" for known in FORMATS)
    raise ValueError(f"{path} must end in one of {ends}, so that its format is known. {what}")


def read_items(path: Path, encoding: str = "utf-8") -> Items:
    """Read items in the format that the end of the file's name says; - is standard input, in JSON Lines."""
    if str(path) == "-":
        return read_jsonl(sys.stdin.buffer, "standard input", encoding)
    return FORMATS[format_of(path, "Rename it.")].read(path, str(path), encoding)


def write_items(items: Items, subset: IntArray, wanted: str) -> bytes:
    """Some of the items in a format; the types of a Parquet or NumPy file are kept in a file of its own kind."""
    records = items.take(subset).to_pylist() if isinstance(items, ParquetItems) else [items.records[i] for i in subset]
    try:
        return FORMATS[wanted].write(items, subset, records)
    except UnicodeEncodeError:
        fields = ((i, name) for i, record in zip(subset, records, strict=True) for name in record)
        i, name = next((i, name) for i, name in fields if HALF.search(as_json({name: items.records[i][name]})))
        raise ValueError(
            f"{items.places[i]}: the field {name!r} holds half of a character (a lone surrogate), which a "
            f".{wanted} file cannot hold. Mend it, or write .jsonl."
        ) from None


def names_of(records: Records) -> list[str]:
    """Every field that a record has, in the order of their first appearance."""
    return list(dict.fromkeys(name for record in records for name in record))


def as_json(value: Any) -> str:
    """JSON on one line; of what it has no type for, arrays as lists, dates as text."""
    return json.dumps(value, ensure_ascii=False, default=lambda x: as_list(x) if hasattr(x, "tolist") else str(x))


def read_jsonl(source: Path | BinaryIO, name: str, encoding: str) -> Items:
    found = list(json_lines(source, name, encoding, ADVICE))
    lines = [line for _, line, _ in found]
    return Items(name, "jsonl", [record for _, _, record in found], [place for place, _, _ in found], origin=lines)


def write_jsonl(items: Items, subset: IntArray, records: Records) -> bytes:
    """Lines as they came where they came as such: 0.10 and 1e2 stay."""
    lines = (items.origin[i] for i in subset) if items.format == "jsonl" else map(as_json, records)
    return "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")


def read_json(source: Path, name: str, encoding: str) -> Items:
    """A list of objects."""
    text = decode(source.read_bytes(), name, encoding).removeprefix("\ufeff")
    found = parse_json(text, name, advice="For an object in each line, name it .jsonl.")
    if not isinstance(found, list):
        raise ValueError(f"{name} must be a JSON list of objects, found {type(found).__name__}.")
    places = [f"{name}, entry {i} (from 0)" for i in range(len(found))]
    for record, place in zip(found, places, strict=True):
        if not isinstance(record, dict):
            raise ValueError(f"{place} must be an object, found {record!r:.40}.")
    return Items(name, "json", found, places)


def write_json(items: Items, subset: IntArray, records: Records) -> bytes:  # noqa: ARG001  # the table's signature
    return ("[\n" + ",\n".join(map(as_json, records)) + "\n]\n").encode("utf-8", "backslashreplace")


def read_csv(source: Path, name: str, encoding: str, delimiter: str = ",") -> Items:
    rows = csv_rows((line.text() for line in read_lines(source, name, encoding)), name, delimiter)
    _, names = next(rows, (1, None))
    if names is not None:
        check_unique(names, f"{name}, line 1")
    found, places = [], []
    for line, cells in rows:
        if names is not None and cells:
            if len(names) == len(cells) == 1:
                check_commas(names[0], cells[0], name)
            if len(cells) != len(names):
                raise ValueError(f"{name}, line {line}: found {len(cells)} cells, and {len(names)} names in line 1.")
            found.append(dict(zip(names, cells, strict=True)))
            places.append(f"{name}, line {line}")
    return Items(name, "csv" if delimiter == "," else "tsv", found, places, names)


def check_commas(head: str, cell: str, name: str) -> None:
    """One name, and one cell below it, that hold as many semicolons or tabs are many that no commas part."""
    for mark, what in ((";", "semicolons"), ("\t", "tabs")):
        if 0 < head.count(mark) == cell.count(mark):
            raise ValueError(
                f"{name} must have commas between its cells, and has {what}: line 1 is {head!r:.60}. Save it with "
                "commas, or as .tsv with tabs between cells and points in numbers."
            )


def write_csv(items: Items, subset: IntArray, records: Records, delimiter: str = ",") -> bytes:  # noqa: ARG001  # the table's signature
    names = items.names if items.names is not None else names_of(records)
    out = io.StringIO()
    rows = ([cell(record.get(name)) for name in names] for record in records)
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([names, *rows] if names else [])
    return out.getvalue().encode()


def cell(value: Any) -> Any:
    """What a CSV cell says: nothing for what is missing, lists and objects as JSON, which `read_items` reads."""
    return as_json(value) if isinstance(value, list | dict | bool | np.ndarray) else value


def open_parquet(source: Path, name: str, encoding: str) -> Items:  # noqa: ARG001  # the table's signature
    need_pyarrow(f"Reading {name}")
    return read_parquet(str(source), name)


def read_npz(source: Path, name: str, encoding: str) -> Items:  # noqa: ARG001  # the table's signature
    """Arrays with one row per item; each array is a field."""
    try:
        with source.open("rb") as stream:
            file = np.load(stream, allow_pickle=False)
            names = list(file.files)
            arrays = {key: file[key] for key in file.files}
    except AttributeError:
        raise ValueError(f"{name} holds one array without a name. Save arrays with np.savez.") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{name} is not a file of NumPy arrays that can be read without pickle: {error}.") from None
    check_unique(names, name)
    sizes = {key: array.shape[0] for key, array in arrays.items() if array.ndim}
    if len(sizes) < len(arrays) or len(set(sizes.values())) > 1:
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise ValueError(f"{name} must hold arrays with one row for each item, found {shapes}.")
    n = next(iter(sizes.values()), 0)
    # numbers and texts as Python's own; rows of embeddings stay views of their array
    columns = {key: list(array) if array.ndim > 1 else array.tolist() for key, array in arrays.items()}
    found = [{"item": i} | {key: column[i] for key, column in columns.items()} for i in range(n)]
    return Items(name, "npz", found, [f"{name}, row {i} (from 0)" for i in range(n)], origin=arrays)


def read_npy(source: Path, name: str, encoding: str) -> Items:  # noqa: ARG001  # the table's signature
    """One array of embeddings, a row for each item; of a file, read where it lies."""
    try:
        array = np.load(source, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{name} is not a NumPy array that can be read without pickle: {error}.") from None
    if not isinstance(array, np.ndarray) or array.ndim != 2:
        shape = getattr(array, "shape", "several arrays")
        raise ValueError(f"{name} must hold one array with a row of numbers for each item, found {shape}.")
    found = [{"item": i, "embedding": row} for i, row in enumerate(array)]
    places = [f"{name}, row {i} (from 0)" for i in range(len(found))]
    return Items(name, "npz", found, places, origin={"embedding": array})


def write_npy(items: Items, subset: IntArray, records: Records) -> bytes:  # noqa: ARG001  # the table's signature
    """The embeddings of the items."""
    out = io.BytesIO()
    np.save(out, array_of([as_list(record.get("embedding")) for record in records], "embedding"), allow_pickle=False)
    return out.getvalue()


def write_npz(items: Items, subset: IntArray, records: Records) -> bytes:
    if items.format == "npz":
        arrays = {"item": subset} | {name: array[subset] for name, array in items.origin.items()}
    else:
        arrays = {name: array_of([record.get(name) for record in records], name) for name in names_of(records)}
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


class Format(NamedTuple):
    """How items are read from a file (source, its name, encoding) and written to one (items, subset, its records)."""

    read: Callable[[Path, str, str], Items]
    write: Callable[[Items, IntArray, Records], bytes]


FORMATS = {
    "jsonl": Format(read_jsonl, write_jsonl),
    "csv": Format(read_csv, write_csv),
    "parquet": Format(open_parquet, write_parquet),
    "npz": Format(read_npz, write_npz),
    "tsv": Format(partial(read_csv, delimiter="\t"), partial(write_csv, delimiter="\t")),
    "json": Format(read_json, write_json),
    "npy": Format(read_npy, write_npy),
}
