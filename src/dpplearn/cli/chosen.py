"""Chosen items as bytes: JSON Lines, CSV, Parquet or NumPy arrays, in the order of selection."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from typing import Any

import numpy as np

from dpplearn._checks import IntArray
from dpplearn.cli.items import Items, need_pyarrow

Records = list[dict[str, Any]]


def write_items(items: Items, subset: IntArray, wanted: str) -> bytes:
    """Some of the items in a format; the types of a Parquet or NumPy file are kept in a file of its own kind."""
    records = [items.records[i] for i in subset]
    if wanted == "jsonl":
        return "".join(json.dumps(one, ensure_ascii=False, default=plain) + "\n" for one in records).encode()
    if wanted == "csv":
        return write_csv(records, items.names if items.names is not None else names_of(records)).encode()
    out = io.BytesIO()
    if wanted == "parquet":
        pyarrow = need_pyarrow("Writing Parquet")
        table = items.origin.take(subset) if items.format == "parquet" else table_of(records, pyarrow)
        pyarrow.parquet.write_table(table, out)
        return out.getvalue()
    if items.format == "npz":
        arrays = {"item": subset} | {name: array[subset] for name, array in items.origin.items()}
    else:
        arrays = arrays_of(records)
    with zipfile.ZipFile(out, "w") as file:  # as np.savez, which takes no array called "file"
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)
    return out.getvalue()


def names_of(records: Records) -> list[str]:
    """Every field that a record has, in the order of their first appearance."""
    return list(dict.fromkeys(name for record in records for name in record))


def write_csv(records: Records, names: list[str]) -> str:
    if not names:
        return ""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        [names, *([cell(one.get(name)) for name in names] for one in records)]
    )
    return out.getvalue()


def cell(value: Any) -> Any:
    """What a CSV cell says: nothing for what is missing, lists and objects as JSON, which `read_items` reads."""
    if isinstance(value, list | dict | bool | np.ndarray):
        return json.dumps(value, ensure_ascii=False, default=plain)
    return value


def table_of(records: Records, pyarrow: Any) -> Any:
    columns = {name: [as_list(one.get(name)) for one in records] for name in names_of(records)}
    try:
        return pyarrow.table(columns)
    except (pyarrow.ArrowException, TypeError) as error:
        raise ValueError(f"The items cannot be a Parquet table: {error}. Write .jsonl, which takes anything.") from None


def arrays_of(records: Records) -> dict[str, Any]:
    """An array for each field: numbers, texts, or lists of numbers of one length."""
    arrays = {}
    for name in names_of(records):
        column = [one.get(name) for one in records]
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
        arrays[name] = array
    return arrays


def as_list(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def plain(value: Any) -> Any:
    """What JSON has no type for: arrays as lists, dates as text."""
    return as_list(value) if isinstance(value, np.ndarray | np.generic) else str(value)
