"""Reasons for which any format may refuse a generated call."""

import re

from abstractcore.errors import InvalidInputError

_SCHEMA = re.compile(r"(output\.schema|tools\[\d+\]\.parameters)\b")


def is_of_a_schema(error: InvalidInputError) -> bool:
    """Whether it is about a schema: one made up of any JSON may hold, under a keyword's name, what is no schema."""
    return _SCHEMA.match(error.path) is not None
