"""`Isolation`: runs functions where a crash, an endless loop or too much memory does no harm."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol


class Isolation(Protocol):
    """Runs generator functions in processes that are killed if they take too long, or nobody waits for them."""

    def run(
        self,
        function: Callable[..., Generator[Any, Any, None]],
        arguments: Sequence[object],
        *,
        source: str,
        seconds: float,
        timeout: float | None,
    ) -> Generator[Any, Any, None]:
        """Yields what `function`, a function of an importable module, yields; blocks.

        Arguments are pickled. Values, and those that are sent to the generator, are of None, booleans, numbers, texts,
        bytes and lists: nothing that the process sends is unpickled. Close the generator if it is not read to its end.

        Raises the `MediaError` or `MissingExtraError` that the function raises; `CorruptFileError` if it raises another
        exception, its process dies or sends anything else, or one value takes longer than `seconds`; `MediaError` if
        all take longer than `timeout`; `StreamInterruptedError` if the call is interrupted. `source` is the name of the
        file, for these errors.
        """
        ...
