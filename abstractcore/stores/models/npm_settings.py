"""Which npm registry is used: npm's own settings of the user, so that mirrors and their tokens apply."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PUBLIC_REGISTRY = "https://registry.npmjs.org/"
_VARIABLE = re.compile(r"\$\{((?:[^}$]|\$(?!\{))++)\}")


@dataclass(frozen=True, slots=True)
class NpmRegistry:
    """A registry: its URL, which ends with a slash, and the tokens by the beginning of URLs without their scheme."""

    url: str
    tokens: Mapping[str, str]

    def headers(self, url: str) -> dict[str, str]:
        """Returns the headers of a request to `url`: the token of the longest beginning that fits."""
        address = url.partition(":")[2]
        fitting = [start for start in self.tokens if address.startswith(start)]
        return {"authorization": f"Bearer {self.tokens[max(fitting, key=len)]}"} if fitting else {}

    def tarball(self, url: str) -> str:
        """Returns where this registry has a tarball: mirrors may name an address of the public registry."""
        return self.url + url.removeprefix(PUBLIC_REGISTRY) if url.startswith(PUBLIC_REGISTRY) else url


def npm_registry(package: str) -> NpmRegistry:
    """Returns the registry of a package: of its scope or of all, in `npm_config_registry` or the user's `.npmrc`."""
    settings = _settings()
    scope = package.partition("/")[0] if package.startswith("@") else ""
    url = settings.get(f"{scope}:registry") or settings.get("registry") or PUBLIC_REGISTRY
    tokens = {
        name.removesuffix(":_authToken"): value
        for name, value in settings.items()
        if name.startswith("//") and name.endswith(":_authToken")
    }
    return NpmRegistry(url.rstrip("/") + "/", tokens)


def _settings() -> dict[str, str]:
    """Returns the settings of the user's file, then those of the environment, whose names have any case."""
    variables = {name.lower(): value for name, value in os.environ.items() if name.lower().startswith("npm_config_")}
    file = Path(variables.get("npm_config_userconfig") or "~/.npmrc")
    settings: dict[str, str] = {}
    try:
        lines = file.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, RuntimeError):
        lines = []
    for line in lines:
        name, equals, value = line.partition("=")
        if equals and not name.lstrip().startswith(("#", ";")):
            settings[name.strip()] = _VARIABLE.sub(
                lambda variable: os.environ.get(variable[1], variable[0]), value.strip().strip("\"'")
            )
    return settings | {name.removeprefix("npm_config_"): value for name, value in variables.items() if value}
