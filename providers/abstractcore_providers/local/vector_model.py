"""`VectorModel`: a sentence model in this process, by onnxruntime: texts to vectors of length 1.

Texts are cut into the tokens of the model's own tokenizer. Those of equal length are computed together, so that none is
padded; a batch has no more tokens than the longest text, which takes the least memory, and no more time
(docs/decisions/0138-embedded-embedding-model.md). The vector of a text is the mean of its tokens' vectors.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import threading
import weakref
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from abstractcore.errors import ContextOverflowError, MissingExtraError, ModelCrashedError
from abstractcore.ports import current_interruption, interruptible, native_call
from abstractcore.schema import Vectors
from abstractcore.schema.base_error import install_hint

MOST_TOKENS = 256
"""The tokens of a text with the two around it: what the model was trained with, and its reference cuts at."""
_WEIGHTS, _TOKENIZER = "model.onnx", "tokenizer.json"
_LEAST_LENGTH = 1e-12
_LONG_TEXT = 20_000
_LONGEST_WORD = 100
_PACKAGES = ("onnxruntime", "tokenizers", "numpy")


def check_packages() -> None:
    """Raises `MissingExtraError` unless the packages that compute vectors are installed. Imports none of them."""
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"the embedded embedding model requires {' and '.join(missing)}, not installed here",
            hint=install_hint("onnxruntime<1.29", "tokenizers", "numpy", "filelock", extra="embed"),
        )


def _module(name: str) -> Any:
    return importlib.import_module(name)


class TextVectors(NamedTuple):
    """The vectors of texts, how many tokens each of them has, and the indexes of those that were cut."""

    vectors: Vectors
    tokens: list[int]
    truncated: list[int]


@dataclass(frozen=True, slots=True)
class ModelKey:
    """Calls with equal keys share a model: the folder with the weights, the number of threads."""

    folder: Path
    threads: int


class VectorModel:
    """A loaded model. Any thread may use it; one batch is computed at a time, on the threads that it has."""

    def __init__(self, key: ModelKey) -> None:
        """Loads the weights; blocks. Raises `MissingExtraError`, and `ModelCrashedError` if they do not load."""
        check_packages()
        onnxruntime, tokenizers, self._numpy = map(_module, _PACKAGES)
        self._new_run: Any = onnxruntime.RunOptions
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = key.threads
        options.enable_cpu_mem_arena = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4
        try:
            with native_call(_WEIGHTS):
                weights = str(key.folder / _WEIGHTS)
                self._session: Any = onnxruntime.InferenceSession(weights, options, ["CPUExecutionProvider"])
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(key.folder / _TOKENIZER))
        except Exception as error:
            raise ModelCrashedError(
                f"the embedding model could not be loaded: {error}",
                hint="The files may be corrupt: `abstractcore models remove` the model, and pull it again.",
            ) from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._turn = threading.Lock()
        self._process = os.getpid()

    @property
    def is_of_this_process(self) -> bool:
        """Whether it was loaded here, rather than before a fork: its threads are then those of the parent."""
        return self._process == os.getpid()

    def embed(self, texts: Sequence[str], *, truncate: bool) -> TextVectors:
        """Returns the vectors of texts, in their order; blocks. With `truncate`, a text of more than `MOST_TOKENS` is
        cut.

        Raises `ContextOverflowError` with the index and the tokens of a text that is too long, and
        `StreamInterruptedError` if the call is interrupted.
        """
        rows = [self._first_tokens(text) if truncate else self._tokens(text) for text in texts]
        too_long = [index for index, row in enumerate(rows) if len(row) > MOST_TOKENS]
        if too_long and not truncate:
            raise _overflow(too_long[0], len(rows[too_long[0]]))
        for index in too_long:
            rows[index] = [*rows[index][: MOST_TOKENS - 1], rows[index][-1]]
        computed: dict[int, bytes] = {}
        dimensions = 1
        with self._run() as run:
            for indexes in _batches([len(row) for row in rows]):
                vectors = self._compute([rows[index] for index in indexes], run)
                dimensions = vectors.shape[1]
                computed |= {index: vector.tobytes() for index, vector in zip(indexes, vectors, strict=True)}
        data = b"".join(computed[index] for index in range(len(rows)))
        return TextVectors(Vectors(data, dimensions), [len(row) for row in rows], too_long)

    def _tokens(self, text: str) -> list[int]:
        # One by one: the tokenizer's own threads, which a batch of texts starts, do not survive a fork.
        return self._tokenizer.encode(text).ids

    def _first_tokens(self, text: str) -> list[int]:
        """Returns the tokens of a text, of a long one those of its beginning, if they are too many already. A word that
        is cut there is of at most `_LONGEST_WORD` tokens: a longer one is one token.
        """
        if len(text) > _LONG_TEXT:
            tokens = self._tokens(text[:_LONG_TEXT])
            if len(tokens) > MOST_TOKENS + _LONGEST_WORD:
                return tokens
        return self._tokens(text)

    @contextmanager
    def _run(self) -> Generator[Any]:
        """Yields the options of a run that ends when the call is interrupted, or the program ends."""
        run = self._new_run()

        def stop() -> None:
            run.terminate = True

        with native_call("the text", stop), interruptible(stop):
            yield run

    def _compute(self, rows: Sequence[Sequence[int]], run: Any) -> Any:
        """Returns the vectors of texts with as many tokens as each other, as an array of float32."""
        numpy = self._numpy
        tokens = numpy.array(rows, dtype=numpy.int64)
        given = {
            "input_ids": tokens,
            "attention_mask": numpy.ones_like(tokens),
            "token_type_ids": numpy.zeros_like(tokens),
        }
        with self._turn:
            try:
                (hidden,) = self._session.run(None, given, run)
            except Exception as error:
                if (interruption := current_interruption()) is not None:
                    interruption.check()
                raise ModelCrashedError(f"the embedding model failed: {error}") from None
        vectors = hidden.mean(axis=1)
        lengths = numpy.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
        return (vectors / numpy.maximum(lengths, _LEAST_LENGTH)).astype("<f4")


def _overflow(index: int, tokens: int) -> ContextOverflowError:
    error = ContextOverflowError(
        f"items[{index}]: the text has {tokens:,} tokens, and the model takes {MOST_TOKENS}.",
        hint="Split the text, or cut it at the limit with truncate=True.",
    )
    error.prompt_tokens, error.context_tokens = tokens, MOST_TOKENS
    return error


def _batches(lengths: Sequence[int]) -> Generator[list[int]]:
    """Yields indexes of texts of equal length, the longest ones first, at most `MOST_TOKENS` tokens together."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for index, length in enumerate(lengths):
        by_length[length].append(index)
    for length in sorted(by_length, reverse=True):
        indexes = by_length[length]
        size = max(1, MOST_TOKENS // length)
        for begin in range(0, len(indexes), size):
            yield indexes[begin : begin + size]


class VectorModels:
    """The loaded models of this process, each as long as something refers to it.

    Threads of onnxruntime do not survive a fork: a forked process loads its own model. That of its parent is never
    freed there, since freeing it would wait for its threads.
    """

    def __init__(self) -> None:
        self._begin()

    def get(self, key: ModelKey) -> VectorModel:
        """Returns the model for `key`, which one of several threads loads; raises as `VectorModel` does."""
        with self._loading:
            model = self._models.get(key)
            if model is None:
                model = self._models[key] = VectorModel(key)
            return model

    def __len__(self) -> int:
        """The number of models that are loaded."""
        return len(self._models)

    def forget(self) -> None:
        """In a forked process: leaves the models to the parent."""
        for model in list(self._models.values()):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(model))
        self._begin()

    def _begin(self) -> None:
        self._loading = threading.Lock()
        self._models: weakref.WeakValueDictionary[ModelKey, VectorModel] = weakref.WeakValueDictionary()


VECTOR_MODELS = VectorModels()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=VECTOR_MODELS.forget)
