"""Evidence for the values of a typed answer: the model quotes, and the quotes are searched in the texts. Pure."""

from __future__ import annotations

from ...schema.source_texts import TextSource
from .checking import check_quotes
from .quotes import Answer, divide, instruction, with_quotes

__all__ = ["Answer", "TextSource", "check_quotes", "divide", "instruction", "with_quotes"]
