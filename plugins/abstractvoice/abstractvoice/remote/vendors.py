"""`VendorRow`: what `vendors.toml` says of a vendor; `VendorAccount`: where and with which key it is reached."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, cast

from abstractcore import ConfigurationError
from abstractcore.schema import whole_base_url


@dataclass(frozen=True, slots=True)
class VendorRow:
    """A vendor. `url_path` is what its own clients append to their base URL. `voices` are those that its API does not
    list; `listener` is its model for speech to text.
    """

    name: str
    title: str
    base_url: str
    base_variables: tuple[str, ...]
    key_variables: tuple[str, ...]
    source: str
    url_path: str = ""
    model: str = ""
    voice: str = ""
    listener: str = ""
    voices: tuple[str, ...] = ()
    models_without_events: tuple[str, ...] = ()
    version: str = ""
    longest: int = 0
    rate: int = 0
    speeds: tuple[float, ...] = ()
    takes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VendorAccount:
    """The base URL of an API, and the key; None if the server needs none."""

    base_url: str
    key: str | None


@cache
def vendor_rows() -> Mapping[str, VendorRow]:
    """Returns the rows by name."""
    text = Path(__file__).with_name("vendors.toml").read_text(encoding="utf-8")
    rows: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {name: _row(name, row) for name, row in rows.items()}


def _row(name: str, values: Mapping[str, Any]) -> VendorRow:
    known = {field.name for field in fields(VendorRow)}
    row: dict[str, Any] = {key: _frozen(value) for key, value in values.items() if key in known}
    return VendorRow(name, **row)


def _frozen(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


def account(row: VendorRow, config: Mapping[str, Any], environment: Mapping[str, str]) -> VendorAccount:
    """Returns where the vendor is reached: options first, then variables. Raises `ConfigurationError` without a key,
    unless another base URL was given, whose server may need none.
    """
    given = config.get("voice_base_url")
    asked = given or _first(row.base_variables, environment) or row.base_url
    base_url = whole_base_url(str(asked), row.base_url, row.url_path)
    key = config.get("voice_api_key") or _first(row.key_variables, environment)
    if not key and base_url == row.base_url:
        names = " or ".join(row.key_variables)
        raise ConfigurationError(
            f"{row.title} needs an API key", hint=f"Set {names}, or pass voice_api_key=... to create_llm."
        )
    return VendorAccount(base_url, str(key) if key else None)


def _first(names: tuple[str, ...], environment: Mapping[str, str]) -> str | None:
    return next((environment[name] for name in names if environment.get(name)), None)
