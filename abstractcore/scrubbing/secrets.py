"""`Secrets`: the credentials that one LLM has sent or may send, and their removal from texts.

Credentials are found complete, truncated or masked, in texts and in the values that hold texts; a value without any
stays the same object. Those of fewer than eight characters are found as whole words, since parts of them occur in other
words. They are removed from an exception, its attributes and its chain in place.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from ..schema import Blob, SchemaError
from .credentials import SHORTEST, CredentialForm, credentials_in, forms_of, plain_forms_of

SCRUBBED = "[scrubbed]"
_REST = re.compile(r"(?:[\w+/=~%*•●…-]|\.{2,}|\.(?=[\w+/=~%*•●…-]))*")
"""What may follow the beginning of a credential: a mask, its end, or an ellipsis."""
_MASK = re.compile(r" \[\.\.\. [\d,]+ characters \.\.\.\] |[*•●…]+|\.{3,}|[xX]{4,}")
"""What may replace the middle of a credential, also where a long message was shortened."""
_MASKS = ("*", "•", "●", "…", "...", "xxxx")
_FEWEST_BESIDE_A_MASK = 5
_FEWEST_ON_ONE_SIDE = 4
"""The number of visible characters that identify a masked credential, as in sk-ab***yz or ***wxyz."""


class SecretScanner:
    """Finds `secrets` in texts, ignoring case, which headers and logs may change."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._forms: dict[str, list[CredentialForm]] = {}
        for form in (form for secret in secrets for form in forms_of(secret)):
            lower = CredentialForm(form.beginning.lower(), form.whole.lower(), form.runs_on)
            self._forms.setdefault(lower.beginning, []).append(lower)
        self._wholes = dict.fromkeys(form.whole for forms in self._forms.values() for form in forms)
        self._longest = max(map(len, self._wholes))
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._beginnings = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)

    def scrubbed(self, text: str) -> str:
        """Returns `text` with each credential replaced by `SCRUBBED`; `text` itself if there is none."""
        lower = text.lower()
        if any(map(lower.__contains__, self._forms)):  # rarely true, and much faster than the regular expression
            text = self._without_beginnings(text)
        return self._without_masked(text) if any(map(lower.__contains__, _MASKS)) else text

    def _without_beginnings(self, text: str) -> str:
        """Replaces each form that begins in `text`, up to the end of what matches."""
        pieces: list[str] = []
        at = 0
        for match in self._beginnings.finditer(text):
            if match.start() >= at:
                pieces += text[at : match.start()], SCRUBBED
                at = self._end(text, match)
        return "".join((*pieces, text[at:])) if pieces else text

    def _end(self, text: str, match: re.Match[str]) -> int:
        """Returns the end of the credential that begins with `match`."""
        forms = self._forms.get(match[0].lower(), ())
        longest = max((len(form.whole) for form in forms), default=0)
        found = text[match.start() : match.start() + longest].lower()
        length, is_whole = len(match[0]), False
        for form in forms:
            shared = _common_prefix_length(form.whole, found)
            if shared >= length:
                ends = shared == len(form.whole) and not form.runs_on
                length, is_whole = shared, ends or (is_whole and shared == length)
        end = match.start() + length
        rest = None if is_whole else _REST.match(text, end)
        return end if rest is None else rest.end()

    def _without_masked(self, text: str) -> str:
        """Replaces masked credentials: vendors show the first and last characters around a mask."""
        pieces: list[str] = []
        at = 0
        for mask in _MASK.finditer(text):
            before, after = self._shown_around(text, at, mask)
            if before >= 0:
                pieces += text[at : mask.start() - before], SCRUBBED
                at = mask.end() + after
        return "".join((*pieces, text[at:])) if pieces else text

    def _shown_around(self, text: str, at: int, mask: re.Match[str]) -> tuple[int, int]:
        """Returns how many characters of a credential are before and after `mask`; -1 if too few to identify one."""
        before = text[max(at, mask.start() - self._longest) : mask.start()].lower()
        after = text[mask.end() : mask.end() + self._longest].lower()
        for whole in self._wholes:
            shown = next((n for n in range(len(before), 0, -1) if whole.startswith(before[-n:])), 0)
            ending = next((n for n in range(len(after), 0, -1) if whole.endswith(after[:n])), 0)
            if shown + ending >= _FEWEST_BESIDE_A_MASK or max(shown, ending) >= _FEWEST_ON_ONE_SIDE:
                return shown, ending
        return -1, 0


def _common_prefix_length(left: str, right: str) -> int:
    """Returns the length of the common prefix."""
    for index, (ours, theirs) in enumerate(zip(left, right, strict=False)):
        if ours != theirs:
            return index
    return min(len(left), len(right))


def is_long(secret: str) -> bool:
    """Returns whether a part of a credential identifies it."""
    return len(secret) >= SHORTEST


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Returns `value` with `change` applied to every text in it: in containers, mappings, schema objects.

    The content of files is not changed. A schema object that becomes invalid is replaced by None.
    """
    if isinstance(value, str):
        return _or_same(value, change(value))
    if isinstance(value, bytes):
        return _or_same(value, change(value.decode("latin-1")).encode("latin-1", "replace"))
    if isinstance(value, Mapping):
        entries = cast("Mapping[Any, Any]", value)
        changed = {with_texts(name, change): with_texts(item, change) for name, item in entries.items()}
        return entries if _same(entries, changed) else changed
    if isinstance(value, tuple | list | set | frozenset):
        return _items(cast("tuple[Any, ...]", value), change)
    if is_dataclass(value) and not isinstance(value, type | Blob):
        return _fields(value, change)
    return cast(Any, value)


def _items(items: Any, change: Callable[[str], str]) -> Any:
    changed = [with_texts(item, change) for item in items]
    if all(before is after for before, after in zip(items, changed, strict=True)):
        return items
    for kind in (tuple, set, frozenset):
        if isinstance(items, kind):
            return cast("Callable[[Any], Any]", kind)(changed)
    return changed


def _fields(value: Any, change: Callable[[str], str]) -> Any:
    before = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    changed = {name: with_texts(item, change) for name, item in before.items()}
    if _same(before, changed):
        return value
    try:
        return replace(value, **{name: item for name, item in changed.items() if item is not before[name]})
    except SchemaError:
        return None


def _same(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> bool:
    return len(before) == len(after) and all(
        name is key and item is value for (name, item), (key, value) in zip(before.items(), after.items(), strict=True)
    )


def _or_same(before: Any, after: Any) -> Any:
    return before if before == after else after


_ATTRIBUTES_OF_BUILTINS = ("strerror", "filename", "filename2", "object", "reason", "value", "msg", "text", "name")
"""Attributes of built-in exceptions that hold text, besides `args`."""


class ScrubbedError(Exception):
    """Replaces an exception whose text holds a credential and cannot be changed."""


class ExceptionScrubber:
    """Applies `change` to every text of exceptions, to each exception once."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change = change
        self._cleaned: dict[int, BaseException] = {}

    def cleaned(self, error: BaseException) -> BaseException:
        """Returns `error`, changed in place; a `ScrubbedError` instead of it if its text cannot be changed."""
        if id(error) in self._cleaned:
            return self._cleaned[id(error)]
        self._cleaned[id(error)] = error
        self._change_arguments(error)
        self._change_attributes(error)
        self._clean_chain(error)
        text, members = _text_of(error), _members(error)
        clean, clean_members = self._change(text), tuple(self.cleaned(member) for member in members)
        if clean != text or any(after is not before for after, before in zip(clean_members, members, strict=True)):
            self._cleaned[id(error)] = _replacement(error, clean, clean_members)
        return self._cleaned[id(error)]

    def _change_arguments(self, error: BaseException) -> None:
        arguments = with_texts(error.args, self._change)
        if arguments is not error.args:
            with suppress(Exception):  # a class of another package may not allow changes
                error.args = arguments

    def _change_attributes(self, error: BaseException) -> None:
        for name in (*vars(error), *_ATTRIBUTES_OF_BUILTINS):
            before = getattr(error, name, None)
            after = self._changed(before)
            if after is not before:
                with suppress(Exception):
                    setattr(error, name, after)

    def _changed(self, value: object) -> object:
        if isinstance(value, BaseException):
            return self.cleaned(value)
        if isinstance(value, tuple | list):
            items = cast("tuple[object, ...]", value)
            if any(isinstance(item, BaseException) for item in items):
                changed = [self._changed(item) for item in items]
                return tuple(changed) if isinstance(value, tuple) else changed
        return with_texts(value, self._change)

    def _clean_chain(self, error: BaseException) -> None:
        suppressed = error.__suppress_context__
        for name in ("__cause__", "__context__"):
            chained = getattr(error, name)
            if chained is not None:
                setattr(error, name, self.cleaned(chained))
        error.__suppress_context__ = suppressed


def _replacement(error: BaseException, text: str, members: tuple[BaseException, ...]) -> BaseException:
    """Returns the replacement of `error`: with the same traceback, chain and notes, and these members of a group."""
    if members:
        replacement: BaseException = BaseExceptionGroup(text.rpartition(" (")[0], members)
    else:
        replacement = ScrubbedError(f"{type(error).__name__}: {text}")
    replacement.__cause__, replacement.__context__ = error.__cause__, error.__context__
    replacement.__suppress_context__ = error.__suppress_context__
    for note in getattr(error, "__notes__", ()):
        replacement.add_note(note)
    return replacement.with_traceback(error.__traceback__)


def _members(error: BaseException) -> tuple[BaseException, ...]:
    """Returns the members of an exception group."""
    return cast("Any", error).exceptions if isinstance(error, BaseExceptionGroup) else ()


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


T = TypeVar("T")
_MOST = 64
"""The maximum number remembered. Tokens are renewed: the oldest are forgotten first."""


class Secrets:
    """Credentials to remove from texts. Those of fewer than 8 characters are removed where they are whole words; of
    fewer than 4, and words such as "test", only after the name of a credential, as in `api_key="x"`.

    Threads may add some while others read. It has no locks, which a fork could leave locked.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known: dict[str, None] = {}
        self._headers: dict[str, str] = {}
        self._scanners: tuple[tuple[str, ...], list[SecretScanner | ShortSecretScanner]] | None = None
        self.add(known)

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self._known

    @property
    def known(self) -> tuple[str, ...]:
        """The credentials, in the order in which they were added."""
        return tuple(self._known)

    def add(self, secrets: Iterable[str]) -> None:
        """Adds `secrets`."""
        for secret in map(str.strip, secrets):
            if secret and secret not in self._known:
                self._known[secret] = None
                while len(self._known) > _MOST:
                    self._known.pop(next(iter(self._known)), None)

    def add_request(self, url: str, headers: Mapping[str, str], unsigned: Mapping[str, str]) -> None:
        """Adds the credentials of a request; `unsigned` are its headers before it was signed."""
        if "?" in url or "@" in url or headers != self._headers:
            self.add(credentials_in(url, headers, [name for name in headers if name not in unsigned]))
            self._headers = dict(headers)

    def and_those_in(self, headers: Mapping[str, str]) -> Secrets:
        """Returns a copy with the credentials in the headers of one call: each call may be another user's."""
        return Secrets((*self._known, *credentials_in("", headers)))

    def for_content(self) -> Secrets:
        """Returns a copy for texts of users and models, which must not change but for a credential: a short one may be
        a word of theirs.
        """
        return Secrets(filter(is_long, self._known))

    def text(self, text: str) -> str:
        """Returns `text` without credentials, complete or truncated, in any common encoding."""
        known = self.known
        if not known or not text:
            return text
        scanners = self._scanners
        if scanners is None or scanners[0] != known:
            scanners = self._scanners = known, _scanners_of(known)
        for scanner in scanners[1]:
            text = scanner.scrubbed(text)
        return text

    def value(self, value: T) -> T:
        """Returns `value` without credentials in its texts; the same object if there are none."""
        return with_texts(value, self.text) if value and self._known else value

    def error(self, error: BaseException) -> None:
        """Removes credentials from `error` in place: from its text, attributes, notes and chain.

        An exception in the chain whose text cannot be changed is replaced by a `ScrubbedError`.
        """
        self.cleaned(error)

    def cleaned(self, error: BaseException) -> BaseException:
        """Scrubs `error` and returns it, or its replacement if its own text cannot be changed."""
        return ExceptionScrubber(self.text).cleaned(error) if self._known else error


def _scanners_of(known: Sequence[str]) -> list[SecretScanner | ShortSecretScanner]:
    long = [secret for secret in known if is_long(secret)]
    short = [secret for secret in known if not is_long(secret)]
    if not short:
        return [SecretScanner(long)]

    return [*([SecretScanner(long)] if long else []), ShortSecretScanner(short)]


_FEWEST = 4
"""Values of fewer characters are found after the name of a credential only: they are words of any text."""
_PLACEHOLDERS = frozenset(
    {
        *("auto", "changeme", "demo", "dummy", "empty", "false", "fake", "key", "local", "no-key", "none", "null"),
        *("ollama", "password", "secret", "test", "token", "true"),
    }
)
"""What is passed where a server needs no key, or stands in headers: these words are found in the same places only."""
_BEFORE = r"(?<![\w/@-])(?<!\w\.)"
_AFTER = r"(?![\w/@-]|\.\w)"
_NAMED = (
    r"(?i:(?:key|token|secret|password|passwd|credential|authorization)s?(?:\s(?:provided|given|is|was))?"
    r"(?:[\"'`]?\s{0,3}[:=]\s{0,3}[\"'`]?|\s[\"'`])|(?:bearer|basic)\s)"
)


class ShortSecretScanner:
    """Finds `secrets` as whole words, and in the encodings of URLs, JSON, HTML, hex and base64."""

    def __init__(self, secrets: Sequence[str]) -> None:
        words = [secret for secret in secrets if not _is_common(secret)]
        forms = dict.fromkeys(form for word in words for form in (*plain_forms_of(word), _in_base64(word)))
        self._words = re.compile(f"{_BEFORE}(?:{_any_of(forms)}){_AFTER}") if forms else None
        self._named = re.compile(f"({_NAMED})(?:{_any_of(secrets)}){_AFTER}")

    def scrubbed(self, text: str) -> str:
        """Returns `text` with each credential replaced by `SCRUBBED`; `text` itself if there is none."""
        text = self._named.sub(rf"\1{SCRUBBED}", text)
        return text if self._words is None else self._words.sub(SCRUBBED, text)


def _is_common(secret: str) -> bool:
    """Returns whether a value is also a word, a number or a setting in texts that are not about a credential."""
    return len(secret) < _FEWEST or secret.isdecimal() or secret.lower() in _PLACEHOLDERS


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def _in_base64(secret: str) -> str:
    return base64.b64encode(secret.encode("utf-8", "surrogatepass")).decode("ascii").rstrip("=")
