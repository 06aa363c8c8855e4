"""`QuotedOutput`: the type of an answer with a quote for each of its values."""

from __future__ import annotations

from typing import Any

from ..outputs.output_type import WRAPPER_KEY, OutputType
from .quotes import Answer, divide, with_quotes


class QuotedOutput(OutputType):
    """Answers of another type with quotes beside them; `answer` is the latest valid one. For one call.

    `files` is the number of files that quotes may come from. An answer without quotes is valid too.
    """

    is_wrapped = True

    def __init__(self, output: OutputType, files: int) -> None:
        self._output = output
        self.files = files
        self.label = output.label
        self.schema = with_quotes(output.schema, is_wrapped=output.is_wrapped, files=files)
        self.answer: Answer | None = None

    def value(self, text: str) -> Any:
        """Returns the value of a JSON text, without quotes; raises as that of the type does."""
        self.answer = None
        found = divide(text)
        if found is None:
            value, found = self._output.value(text), Answer(text, ())
        else:
            wrapped = f'{{"{WRAPPER_KEY}": {found.value}}}'
            value = self._output.value(wrapped if self._output.is_wrapped else found.value)
        self.answer = found
        return value

    def item_value(self, text: str) -> Any:
        """Returns the value of an item's JSON text; raises as that of the type does."""
        return self._output.item_value(text)

    def check_is_list(self) -> None:
        """Raises `InvalidInputError` unless answers are lists whose items can be validated one by one."""
        self._output.check_is_list()
