"""`abstractcore embed`: files as vectors, written for NumPy, as a Parquet table or as lines of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

import abstractcore
from abstractcore.embeddings import EmbeddingCache, Embeddings
from abstractcore.registry import missing_path_hint
from abstractcore.schema import CallProgress, install_hint

from .bounded_input import read_bytes, read_text
from .output_files import check_output, progress_shown, whole_file
from .plugins import ConnectionArguments, connected
from .reporting import json_line, reported
from .screen import note, write

_ENDINGS: Final = (".npz", ".parquet", ".jsonl")


@dataclass(frozen=True, slots=True)
class EmbedArguments:
    """The arguments of `embed`; "-" among the files is stdin."""

    files: tuple[str, ...]
    output: str
    lines: bool
    query: bool
    dimensions: int | None
    provider: str | None
    model: str | None
    base_url: str | None
    timeout: float | None
    quiet: bool
    tags: tuple[str, ...] = ()


class EmbeddedText(NamedTuple):
    """A text, and where it is from: a file, and the line in it, from 1."""

    text: str
    file: str
    line: int | None


@dataclass(frozen=True, slots=True)
class FileVectors:
    """Vectors in the order of their texts, as they were embedded, a batch after the other: at least one."""

    batches: tuple[Embeddings, ...]

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    @property
    def model(self) -> str:
        """The model, with its provider."""
        return f"{self.batches[0].provider}/{self.batches[0].model}"

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self.batches[0].dimensions

    def lists(self) -> list[list[float]]:
        """Returns the vectors as lists of numbers."""
        return [row for batch in self.batches for row in batch.data.lists()]

    @property
    def tokens(self) -> int | None:
        """The tokens of all texts; None unless all are known."""
        known = [each.usage.input for each in self.batches if each.usage.input is not None]
        return sum(known) if len(known) == len(self.batches) else None

    @property
    def cost(self) -> Decimal | None:
        """What all batches cost in US dollars; None unless it is known of all."""
        known = [each.cost for each in self.batches if each.cost is not None]
        return sum(known, Decimal(0)) if len(known) == len(self.batches) else None


def embed_files(arguments: EmbedArguments, *, as_json: bool) -> None:
    """Embeds files or their lines, and writes the vectors with their texts."""
    with reported(as_json=as_json):
        ending = Path(arguments.output).suffix.lower()
        if ending not in _ENDINGS:
            hint = f"Give it one of the endings {', '.join(_ENDINGS)}."
            raise abstractcore.InvalidInputError(f"--output {arguments.output!r} has no known ending.", hint=hint)
        check_output(arguments.output)
        connection = ConnectionArguments(
            arguments.provider,
            arguments.model,
            arguments.base_url,
            timeout=arguments.timeout,
            quiet=arguments.quiet or as_json,
            tags=arguments.tags,
        )
        texts = [each for file in arguments.files for each in _texts(file, lines=arguments.lines)]
        if not texts:
            raise abstractcore.InvalidInputError("There is nothing to embed: the files have no text.")
        with _unfinished(arguments.output) as settings, whole_file(Path(arguments.output)) as file:
            file.touch()  # fails before anything is embedded if the folder cannot be written
            with (
                connected(connection, default="embedding", unless_set=settings) as llm,
                progress_shown(connection.quiet) as on_progress,
            ):
                vectors = _embedded(llm, texts, arguments, on_progress or _ignored)
            _WRITERS[ending](file, texts, vectors)
        _show(arguments, vectors, as_json=as_json)


@contextmanager
def _unfinished(output: str) -> Generator[Mapping[str, Any]]:
    """Yields the settings by which vectors are kept beside the output until it is written, so that an interrupted
    command, or one of which a request fails, goes on when it is repeated.
    """
    target = Path(output)
    if target.exists() and not target.is_file():  # a device or a pipe
        yield {}
        return
    cache = EmbeddingCache(target.with_name(f"{target.name}.unfinished"))
    kept = None
    try:
        yield {"embed_cache": cache}
    except (KeyboardInterrupt, abstractcore.AbstractCoreError) as error:
        kept = cache.path.exists() and cache.unless_failed(cache.count)[0]
        if kept:
            hint = f"Run the same command again: it goes on with the vectors in {cache.path}."
            error.add_note(hint) if isinstance(error, KeyboardInterrupt) else note(hint)
        raise
    finally:
        cache.close()
        if not kept:
            for ending in ("", "-wal", "-shm"):
                Path(f"{cache.path}{ending}").unlink(missing_ok=True)


def _embedded(
    llm: abstractcore.LLM,
    texts: Sequence[EmbeddedText],
    arguments: EmbedArguments,
    on_progress: Callable[[CallProgress], None],
) -> FileVectors:
    """Returns the vectors of all texts, and reports how many there are."""
    batches: list[Embeddings] = []
    done = 0
    for batch in llm.embed_batches(
        [each.text for each in texts],
        dimensions=arguments.dimensions,
        purpose="query" if arguments.query else "document",
    ):
        batches.append(batch)
        done += len(batch)
        on_progress(CallProgress(done, len(texts), f"{done:,} of {len(texts):,} texts embedded"))
    return FileVectors(tuple(batches))


def _ignored(progress: CallProgress) -> None:
    """Shows nothing."""


def _texts(file: str, *, lines: bool) -> list[EmbeddedText]:
    """Returns the text of a file, or its lines that are not empty."""
    name = "stdin" if file == "-" else file
    if file == "-":
        text = _stdin_text()
    elif lines:
        text = _read_lines(file)
    else:
        services = abstractcore.Services()
        try:
            text = services.extract_text(Path(file))
        finally:
            services.close()
    if not lines:
        return [EmbeddedText(text, name, None)] if text.strip() else []
    numbered = enumerate(text.splitlines(), 1)
    return [EmbeddedText(line, name, number) for number, line in numbered if line.strip()]


def _stdin_text() -> str:
    try:
        return read_bytes(sys.stdin.buffer, "stdin").decode("utf-8-sig")
    except UnicodeDecodeError:
        hint = "Name the file instead: documents are read too."
        raise abstractcore.InvalidInputError("stdin is not text in UTF-8.", hint=hint) from None


def _read_lines(file: str) -> str:
    try:
        return read_text(Path(file))
    except UnicodeDecodeError:
        hint = "Leave out --lines: then documents are read too."
        raise abstractcore.InvalidInputError(f"{file} is not text in UTF-8.", hint=hint) from None
    except OSError as error:
        problem = f"{file} cannot be read: {error.strerror or error}."
        raise abstractcore.InvalidInputError(problem, hint=missing_path_hint(file)) from None


def _write_npz(path: Path, texts: Sequence[EmbeddedText], vectors: FileVectors) -> None:
    try:
        import numpy
    except ImportError:
        hint = install_hint("numpy", extra="embed")
        raise abstractcore.MissingExtraError(
            "An .npz file requires numpy, which is not installed.", hint=hint
        ) from None
    with path.open("wb") as stream:
        numpy.savez(
            stream,
            vectors=numpy.concatenate([each.vectors for each in vectors.batches]),
            texts=numpy.array([each.text for each in texts]),
            files=numpy.array([each.file for each in texts]),
            lines=numpy.array([each.line or 0 for each in texts]),
        )


def _write_parquet(path: Path, texts: Sequence[EmbeddedText], vectors: FileVectors) -> None:
    try:
        import pyarrow  # type: ignore[import-not-found]
        import pyarrow.parquet  # type: ignore[import-not-found]
    except ImportError:
        hint = install_hint("pyarrow")
        raise abstractcore.MissingExtraError(
            "A Parquet file requires pyarrow, which is not installed.", hint=hint
        ) from None
    arrow: Any = pyarrow
    columns: dict[str, Any] = {
        "text": arrow.array([each.text for each in texts]),
        "file": arrow.array([each.file for each in texts]),
        "line": arrow.array([each.line for each in texts], arrow.int64()),
        "vector": arrow.array(vectors.lists(), arrow.list_(arrow.float32(), vectors.dimensions)),
    }
    arrow.parquet.write_table(arrow.table(columns), path)


def _write_jsonl(path: Path, texts: Sequence[EmbeddedText], vectors: FileVectors) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for each, vector in zip(texts, vectors.lists(), strict=True):
            row = {"text": each.text, "file": each.file, "line": each.line, "vector": vector}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


_WRITERS = {".npz": _write_npz, ".parquet": _write_parquet, ".jsonl": _write_jsonl}


def _show(arguments: EmbedArguments, vectors: FileVectors, *, as_json: bool) -> None:
    cost = vectors.cost
    if as_json:
        data: dict[str, Any] = {
            "output": arguments.output,
            "model": vectors.model,
            "vectors": len(vectors),
            "dimensions": vectors.dimensions,
            "tokens": vectors.tokens,
            "cost": None if cost is None else f"{cost:f}",
        }
        write(json_line(data))
        return
    write(f"{arguments.output}\n")
    if not arguments.quiet:
        tokens = "" if vectors.tokens is None else f", {vectors.tokens:,} tokens"
        dollars = "" if cost is None else f", ${cost:f}"
        note(f"{vectors.model}: {len(vectors):,} x {vectors.dimensions:,}{tokens}{dollars}")
