"""Reasons for which any format may refuse a generated call."""

import re

from abstractcore.errors import InvalidInputError

_SCHEMA = re.compile(r"(output\.schema|tools\[\d+\]\.parameters)\b")


def is_of_a_schema(error: InvalidInputError) -> bool:
    """Whether it concerns a schema: generated JSON may have, under a keyword's name, a value that is not a schema."""
    return _SCHEMA.match(error.path) is not None
