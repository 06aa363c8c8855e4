"""`Vendor`: a row of a plugin's file of vendors: an address, a key, the name of a wire format, and default models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import AuthenticationError, CapabilityUnavailableError
from ..schema.wire import whole_base_url


@dataclass(frozen=True, slots=True)
class Vendor:
    """One vendor. `keys` are the environment variables of its key, `header` and `scheme` how the key is sent.

    `models` are those used by default, by task; `catalogue` is the provider whose prices the catalogue has. `options`
    is the beginning of the options of `create_llm`, such as "vision", and `model_option` the one that names the model.
    `url_path` is what the vendor's own clients append to their base URL. `example_url` is what an address looks like,
    for errors; a server without `needs_key` may be open.
    """

    name: str
    summary: str
    format: str
    base_url: str | None
    keys: tuple[str, ...]
    header: str
    scheme: str
    options: str
    model_option: str
    tasks: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    catalogue: str | None = None
    url_path: str = ""
    example_url: str = "http://127.0.0.1:8080/v1"
    needs_key: bool = True

    def model_for(self, task: str, asked: str | None) -> str:
        """Returns the model to use; raises `CapabilityUnavailableError` without one."""
        model = asked or self.models.get(task)
        if model:
            return model
        hint = f"Name one: model=..., or {self.model_option}=... in create_llm."
        raise CapabilityUnavailableError(f"{self.name} has no model of its own choice for {task}", hint=hint)

    def address(self, config: Mapping[str, Any]) -> str:
        """Returns the base URL, whose end may be missing in the option; raises `CapabilityUnavailableError` without
        one.
        """
        option = f"{self.options}_base_url"
        url = config.get(option) or self.base_url
        if isinstance(url, str) and url.startswith(("https://", "http://")):
            return whole_base_url(url, self.base_url, self.url_path)
        hint = f"Set it where the LLM is created: create_llm(..., {option}='{self.example_url}')."
        raise CapabilityUnavailableError(f"{self.name} needs the URL of a server, got {url!r}", hint=hint)

    def credentials(self, config: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
        """Returns the header with the key; raises `AuthenticationError` if it is not set."""
        option = f"{self.options}_api_key"
        key = config.get(option) or next((environment[each] for each in self.keys if environment.get(each)), None)
        if key:
            return {self.header: f"{self.scheme}{key}"}
        if not self.keys or not self.needs_key:
            return {}
        hint = f"Set {self.keys[0]}, or {option}=... in create_llm."
        raise AuthenticationError(f"no key for {self.name}", hint=hint, provider=self.name)

    def reported(self, model: str) -> str:
        """Returns the model as results and prices name it."""
        return f"{self.catalogue or self.name}/{model}"


def read_vendors(text: str, *, options: str, model_option: str) -> dict[str, Vendor]:
    """Returns the vendors of a JSON object by name; `text` is a file of the plugin's own."""
    rows: dict[str, dict[str, Any]] = json.loads(text)
    return {
        name: Vendor(name, options=options, model_option=model_option, **_frozen(row)) for name, row in rows.items()
    }


def _frozen(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if name in ("keys", "tasks") else value for name, value in row.items()}
