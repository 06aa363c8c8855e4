"""The digest of what the answers of an LLM depend on besides its calls: its options, its server, and its account."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import FunctionType
from typing import Any, Final, cast

from ..configuration import Configuration
from ..ports import ProviderSession
from ..schema import JSONValue
from ..scrubbing import is_sensitive
from .llm import LLM, settings_of

CHANGES_NO_ANSWER: Final = frozenset(
    {"budgets", "headers", "http_client", "max_connections", "max_retries", "middleware", "price", "proxy"}
    | {"timeout", "transport", "verify"}
)
"""Options of `create_llm` that change how requests are sent, not what is asked; a call has the headers itself."""
_MODELS: Final = ("transcription_model", "vision_model")


def settings_digest(options: Mapping[str, object], session: ProviderSession, configuration: Configuration) -> str:
    """Returns the SHA-256 of options of `create_llm`, of the server and its credentials, of what is known about the
    model, and of what the `configuration` says of files, and of LLMs if an option names one. It is the same in every
    process, unless an option is an object that only its process knows, such as a lambda.
    """
    names_llm = any(isinstance(options.get(name), str) for name in _MODELS)
    configured = [configuration.llms, configuration.providers] if names_llm else []
    files = [configuration.media_policy, configuration.media_history]
    found = [_options(options), _connection(session), _plain(files), _plain(configured)]
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def _options(options: Mapping[str, object]) -> JSONValue:
    return {
        name: _name(value) if callable(value) and is_sensitive(name) else _plain(value)
        for name, value in options.items()
        if name not in CHANGES_NO_ANSWER
    }


def _connection(session: ProviderSession) -> JSONValue:
    """Returns the address with the credentials, and the facts about the model; objects count by their class."""
    return [session.model, _plain(session.endpoint, by_class=True), _plain(session.profile, by_class=True)]


def _plain(value: object, *, by_class: bool = False) -> JSONValue:
    """Returns JSON that differs for values that differ. An object of an unknown kind differs from all others, unless it
    counts `by_class`.
    """
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, Enum)):
        return value
    inner = partial(_plain, by_class=by_class)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return ["mapping", *sorted(([inner(name), inner(each)] for name, each in pairs), key=json.dumps)]
    if isinstance(value, list | tuple):
        return ["list", *map(inner, cast("list[object]", value))]
    if isinstance(value, Set):
        return ["set", *sorted(map(inner, cast("Set[object]", value)), key=json.dumps)]
    if isinstance(value, bytes | PurePath | Decimal | date | Enum):
        return [_name(type(value)), repr(value)]
    if isinstance(value, LLM):
        arguments, session = settings_of(value)
        return ["LLM", _options(arguments.options), _connection(session)]
    if isinstance(value, partial):
        return ["partial", *map(inner, (value.func, value.args, value.keywords))]
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.init]
        return [_name(type(value)), *([name, inner(getattr(value, name))] for name in names)]
    if isinstance(value, type) or (isinstance(value, FunctionType) and "<" not in value.__qualname__):
        return _name(value)
    return _name(value) if by_class else [_name(value), secrets.token_hex(16)]


def _name(value: object) -> str:
    named: Any = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"
