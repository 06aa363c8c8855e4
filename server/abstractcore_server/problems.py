"""`Problems`: everything that is wrong with a configuration, raised as one error with a line for each."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from abstractcore.errors import ConfigurationError


class InvalidConfigurationError(ConfigurationError):
    """Several errors of a configuration, which its message has one below the other, each with its hint."""

    _longest_message = 1_000_000

    def __init__(self, errors: Sequence[ConfigurationError]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = tuple(errors)
        self.file = errors[0].file


class Problems:
    """Collects errors, so that one reading of a configuration finds them all."""

    def __init__(self) -> None:
        self._errors: list[ConfigurationError] = []

    def add(self, error: ConfigurationError) -> None:
        """Adds an error."""
        self._errors += error.errors if isinstance(error, InvalidConfigurationError) else [error]

    @contextmanager
    def collected(self) -> Generator[None]:
        """Ends its body at a `ConfigurationError`, which is added."""
        try:
            yield
        except ConfigurationError as error:
            self.add(error)

    def check(self) -> None:
        """Raises `ConfigurationError` for what was added, if anything."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise InvalidConfigurationError(self._errors)
