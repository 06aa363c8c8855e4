"""What search over files costs: the nearest of 100,000 vectors beside the bare product, words, and the first search."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy
from rounds import Row, Setup, best

from abstractcore.schema import Vectors
from abstractcore.search.chunks import Chunk, chunks_of
from abstractcore.search.matching import VectorMatrix
from abstractcore.search.store import IndexFile, NewDocument

_DIMENSIONS = 384
_OF_A_DOCUMENT = 1_000
_PAGES = Path(__file__).parents[1] / "docs"


def search(setup: Setup) -> list[Row]:
    """The nearest ten of 100,000 vectors (10,000 with --quick), ten thousand chunks of words, texts divided."""
    documents = 10 if setup.quick else 100
    rows = numpy.random.default_rng(1).standard_normal((documents * _OF_A_DOCUMENT, _DIMENSIONS), numpy.float32)
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    with tempfile.TemporaryDirectory() as folder:
        file = IndexFile(Path(folder) / "search.db")
        begin = time.perf_counter()
        for number in range(documents):
            part = rows[number * _OF_A_DOCUMENT : (number + 1) * _OF_A_DOCUMENT]
            file.write([_document(number)], Vectors(part.tobytes(), _DIMENSIONS), None)
        written = (time.perf_counter() - begin) / len(rows)
        matrix, query = VectorMatrix(file), Vectors(rows[5].tobytes(), _DIMENSIONS)
        begin = time.perf_counter()
        matrix.nearest(query, 10, None)
        first = time.perf_counter() - begin
        times = best(
            {
                "nearest": lambda: _timed(lambda: matrix.nearest(query, 10, None)),
                "product": lambda: _timed(lambda: rows @ rows[5]),
                "words": lambda: _timed(lambda: file.with_words("word5 word7", 60, None)),
                "chunks": lambda: _timed(_divide),
            },
            10 * setup.rounds,
        )
        file.close()
    count = f"{len(rows):,}"
    return [
        Row(f"nearest 10 of {count} vectors", times["nearest"], goal=25e-3),
        Row(f"nearest 10 of {count} vectors, over the bare product", times["nearest"], times["product"]),
        Row(f"words among {count} chunks", times["words"]),
        Row(f"first search, {count} vectors read", first),
        Row("a chunk written", written),
        Row("docs/ divided, each page", times["chunks"]),
    ]


def _document(number: int) -> NewDocument:
    text = f"word{number} " * _OF_A_DOCUMENT
    length = len(text) // _OF_A_DOCUMENT
    chunks = [Chunk(place * length, (place + 1) * length) for place in range(_OF_A_DOCUMENT)]
    return NewDocument(f"d{number}", f"d{number}", "", text, chunks=chunks)


def _divide() -> None:
    for page in _PAGES.glob("*.md"):
        chunks_of(page.read_text("utf-8"), (), 200)


def _timed(function: Any) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin
