"""The tags that `--tag NAME=VALUE` gives."""

from __future__ import annotations

from collections.abc import Iterable

from abstractcore import InvalidInputError


def tags_of(given: Iterable[str]) -> dict[str, str]:
    """Returns the tags of `--tag NAME=VALUE`; raises `InvalidInputError` for one without a value, or with two."""
    tags: dict[str, str] = {}
    for tag in given:
        name, equals, value = tag.partition("=")
        if not name or not equals:
            raise InvalidInputError(f"{tag!r:.60} is not a tag", path="--tag", hint="Write --tag NAME=VALUE.")
        if tags.setdefault(name, value) != value:
            hint = f"Write one of {tags[name]!r:.60} and {value!r:.60}, or a command for each."
            raise InvalidInputError(f"the tag {name!r:.60} has two values", path="--tag", hint=hint)
    return tags
