"""`AbstractCoreError`, the base class of all errors, and `SchemaError`, which the schema itself raises.

Quotes values and texts in error messages: always short, and without raising errors. What to install, for errors and
warnings. Texts elsewhere name no command that installs anything.

First-party packages are never named as requirements: package indexes have unrelated projects with their names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Final, cast

from .. import error_types

_LONGEST_VALUE: Final = 80
_LONGEST_FILE_NAME: Final = 255
_JOINERS: Final = "\u200c\u200d"
"""Emoji and many languages need them."""
_LONG_RUN = re.compile(r"\S{401,}")
_LONGEST_WHOLE_NUMBER = 10 ** (_LONGEST_VALUE + 1)
_USER_INFO = re.compile(r"(?<=//)[^/]*@")
_TEXTS: frozenset[Any] = frozenset({str.__repr__, bytes.__repr__, bytearray.__repr__})
_BRACKETS: dict[Any, tuple[str, str]] = {
    cast(Any, list).__repr__: ("[", "]"),
    cast(Any, tuple).__repr__: ("(", ")"),
    cast(Any, set).__repr__: ("{", "}"),
    cast(Any, frozenset).__repr__: ("frozenset({", "})"),
}


def shown(value: object) -> str:
    """Returns the first 80 characters of the value's repr, computing no more of a large value than these."""
    pieces: list[str] = []
    size = 0
    try:
        for piece in _repr_pieces(value):
            pieces.append(piece)
            size += len(piece)
            if size > _LONGEST_VALUE:
                return f"{''.join(pieces)[:_LONGEST_VALUE]}..."
    except Exception:
        return f"a {type(value).__name__}"
    return "".join(pieces)


def shortened(text: str, longest: int) -> str:
    """Returns the beginning and the end of an untrusted text, about `longest` characters at most.

    Of a run of more than 400 characters without a space (base64, for example) at most 150 are kept.
    """
    text = _LONG_RUN.sub(_ends, text)
    if len(text) <= longest:
        return text
    end = longest // 4
    return f"{text[: longest - end]} [... {len(text) - longest:,} characters ...] {text[-end:]}"


def _ends(run: re.Match[str]) -> str:
    return f"{run[0][:100]}...{run[0][-50:]}"


def shown_address(url: str) -> str:
    """Returns a URL without user, password, query and fragment, which may hold secrets."""
    return _USER_INFO.sub("", re.split("[?#]", url, maxsplit=1)[0], count=1)


def one_line(text: str, longest: int = 200) -> str:
    """Returns an untrusted text on one line; its repr if it has unprintable characters."""
    return shortened(text if text.isprintable() else repr(text), longest)


def shown_file_name(name: str) -> str:
    """Returns an untrusted file name on one short line, without invisible characters, such as those that reverse the
    order of letters; control characters are replaced by their pictures, others that cannot be shown by a mark.
    """
    text = " ".join(name.split())
    if not text.isprintable():
        text = "".join(map(_visible, text))
    return shortened(text, _LONGEST_FILE_NAME)


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    if ord(character) < 0x20:
        return chr(0x2400 + ord(character))
    return "" if unicodedata.category(character) == "Cf" else "\ufffd"


def shown_seconds(seconds: float) -> str:
    """Returns a duration for messages, as in `0.25 s`, `3.5 s` or `120 s`."""
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def _repr_pieces(value: Any) -> Iterator[str]:
    """Yields `repr(value)` in pieces. The reader stops early, which also ends a value that contains itself."""
    kind = cast(Any, type(value))
    if kind.__repr__ in _TEXTS:
        yield repr(value[: _LONGEST_VALUE + 1])
    elif kind is memoryview:
        yield f"a memoryview of {value.nbytes:,} bytes"
    elif kind is int and not -_LONGEST_WHOLE_NUMBER < value < _LONGEST_WHOLE_NUMBER:
        yield f"an integer of {value.bit_length():,} bits"
    elif kind.__repr__ is cast(Any, dict).__repr__:
        yield from _entries("{", ((_repr_pieces(key), ": ", item) for key, item in value.items()), "}")
    elif kind.__repr__ in _BRACKETS and value:
        opening, closing = _BRACKETS[kind.__repr__]
        closing = ",)" if opening == "(" and len(value) == 1 else closing
        yield from _entries(opening, (((), "", item) for item in value), closing)
    elif is_dataclass(value) and hasattr(kind.__repr__, "__wrapped__"):
        names = [field.name for field in fields(value) if field.repr]
        yield from _entries(f"{kind.__qualname__}(", (((name,), "=", getattr(value, name)) for name in names), ")")
    else:
        yield repr(value)


def _entries(opening: str, entries: Iterable[tuple[Iterable[str], str, Any]], closing: str) -> Iterator[str]:
    yield opening
    joint = ""
    for name, sign, value in entries:
        yield joint
        yield from name
        yield sign
        yield from _repr_pieces(value)
        joint = ", "
    yield closing


_LONGEST_NAME: Final = 60
_LONGEST_PATH: Final = 200


class AbstractCoreError(Exception):
    """Base class of all errors of this package.

    `hint` names the next step; `provider`, `model`, `status` (HTTP) and `request_id` say where it happened.
    `retryable` is True if the same call may succeed later, `retry_after` the provider's delay in seconds, if given.
    `partial` holds what arrived: of a reply a `ModelReply`, of vectors `PartialVectors`; `attempts` the attempts made.
    Quoted text is shortened: a message has fewer than 2,000 characters. `quoted` is the part of the message that quotes
    an answer: records without content leave it out.

    Of a call of several rounds, `loop` is the state that the error ended, with the usage and cost of the rounds so far:
    of a tool loop, and of a typed answer that was being corrected. `output_attempts` are its answers that were not
    valid.
    """

    retryable = False
    quoted: str | None = None
    loop: error_types.ToolLoop | None = None
    output_attempts: tuple[error_types.OutputAttempt, ...] = ()
    _longest_message: ClassVar[int] = 1200
    _longest_hint: ClassVar[int] = 400

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        partial: error_types.ModelReply | None = None,
        attempts: Sequence[error_types.AttemptRecord] = (),
    ) -> None:
        self.message = shortened(message, self._longest_message)
        super().__init__(self.message)
        self.hint = None if hint is None else shortened(hint, self._longest_hint)
        self.provider = provider
        self.model = model
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.partial: Any = partial
        self.attempts = tuple(attempts)

    def __str__(self) -> str:
        where = "/".join(shortened(name, _LONGEST_NAME) for name in (self.provider, self.model) if name)
        text = f"{where}: {self._problem()}" if where else self._problem()
        facts = [f"HTTP {self.status}"] if self.status is not None else []
        if self.retry_after is not None:
            facts.append(f"retry after {self.retry_after:g} s")
        if facts:
            text += f" ({', '.join(facts)})"
        if not self.hint:
            return text
        stop = "" if text.endswith((".", "!", "?", "\n")) else "."
        return f"{text}{stop} {self.hint}"

    def _problem(self) -> str:
        """Returns the message without the provider and the hint."""
        return self.message

    def _render_traceback_(self) -> list[str]:
        """Returns the traceback that IPython and Jupyter show: without frames of this package."""
        from ..tracebacks import rendered

        return rendered(self)


class SchemaError(AbstractCoreError, ValueError):
    """A value is not allowed in the schema. `path` names it, as in `messages[0].parts[1].text`."""

    def __init__(self, message: str, path: str = "", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.args = (self.message, shortened(path, _LONGEST_PATH))
        self.path = path

    def _problem(self) -> str:
        return f"{shortened(self.path, _LONGEST_PATH)}: {self.message}" if self.path else self.message

    def at(self, prefix: str) -> SchemaError:
        """Returns the error with `prefix` added before its path."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return SchemaError(self.message, f"{prefix}{joint}{self.path}", hint=self.hint)


def install_hint(*packages: str, extra: str | None = None) -> str:
    """Returns a sentence with the command that installs packages of others, such as "websockets>=17.4,<18".

    `extra` is the extra of AbstractCore that they are part of.
    """
    import shlex

    hint = f"Install with: pip install {shlex.join(packages)}"
    if extra is None:
        return f"{hint}."
    return f"{hint} (part of the extra {extra!r}; in a checkout of AbstractCore: pip install '.[{extra}]')."


def checkout_hint(project: str) -> str:
    """Returns a sentence with the command that installs a project of this repository, such as "./plugins/voice"."""
    return f"In a checkout of AbstractCore: pip install {project}; elsewhere, install the wheel that is built from it."
