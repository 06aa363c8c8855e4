"""`ModerationInput`: the texts and images of a moderation, as the client has written them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from abstractcore.errors import InvalidInputError

Part: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModerationInput:
    """A text, a list of texts, or a list of objects of text and image_url
    (https://platform.openai.com/docs/api-reference/moderations). `texts` are those of it that are not empty.
    """

    given: str | Sequence[str] | Sequence[Part]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, given: object) -> ModerationInput:
        """Returns the input of a request; raises `InvalidInputError` for what the API has no word for."""
        if isinstance(given, str):
            return cls(given, (given,) if given else ())
        if isinstance(given, list) and given:
            items = cast("list[Any]", given)
            if all(isinstance(item, str) for item in items):
                return cls(items, tuple(filter(None, items)))
            if all(isinstance(item, dict) for item in items):
                return cls(items, tuple(text for item in items if (text := _text(item))))
        raise InvalidInputError(
            "expected a text, a list of texts, or a list of objects of text and image_url", path="input"
        )

    def with_texts(self, texts: Sequence[str]) -> object:
        """Returns what was given with other texts, and with nothing of objects but type, text and the URL of an
        image.
        """
        left = iter(texts)
        if isinstance(self.given, str):
            return next(left, "")
        return [_item(item, left) for item in self.given]


def _item(item: str | Part, texts: Iterator[str]) -> object:
    if isinstance(item, str):
        return next(texts) if item else ""
    return _part(item, next(texts) if _text(item) else "")


def _text(part: Part) -> str:
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _part(part: Part, text: str) -> dict[str, Any]:
    image = part.get("image_url")
    url = cast("Part", image).get("url") if isinstance(image, dict) else None
    return {
        **({"type": part["type"]} if isinstance(part.get("type"), str) else {}),
        **({"text": text} if isinstance(part.get("text"), str) else {}),
        **({"image_url": {"url": url}} if isinstance(url, str) else {}),
    }
