"""What to install and to set, for capabilities that no backend provides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ..errors import CapabilityUnavailableError
from ..ports.capabilities import BackendEntry, CapabilityName
from ..registry import Registry
from ..schema.install_hints import checkout_hint

_PACKAGES: Final[Mapping[CapabilityName, str]] = {
    "voice": "abstractvoice",
    "audio": "abstractvoice",
    "vision": "abstractvision",
    "music": "abstractmusic",
}


def without_backend(capability: CapabilityName, registry: Registry) -> CapabilityUnavailableError:
    """Returns the error for a capability without backends; it names packages that are broken."""
    broken = [f"The plugin {report.name!r} is broken: {report.error}" for report in registry.reports if report.error]
    return CapabilityUnavailableError(
        f"no backend of llm.{capability} is installed.",
        hint=" ".join(
            [checkout_hint(f"./plugins/{_PACKAGES[capability]}"), "`abstractcore plugins` lists them.", *broken]
        ),
    )


def without_method(
    capability: CapabilityName, method: str, entries: Sequence[BackendEntry]
) -> CapabilityUnavailableError:
    """Returns the error for a method that none of the backends has."""
    names = ", ".join(entry.backend_id for entry in entries)
    return CapabilityUnavailableError(
        f"llm.{capability}.{method}: no backend can do this; asked: {names}.",
        hint=" ".join(filter(None, (entry.config_hint or entry.install_hint for entry in entries)))
        or f"Set {capability}_backend=... in create_llm; `abstractcore plugins` lists the backends.",
    )


def without_choice(
    capability: CapabilityName, method: str, entries: Sequence[BackendEntry]
) -> CapabilityUnavailableError:
    """Returns the error for a method whose backends need a key, or more, and of which the user has chosen none."""
    option = f"{capability}_backend"
    choices = [f"{option}={entry.backend_id.rpartition(':')[2]!r} ({_needed(entry)})" for entry in entries]
    return CapabilityUnavailableError(
        f"llm.{capability}.{method}: no backend does this as it is installed and set up.",
        hint=f"Choose one in create_llm: {', '.join(choices)}.",
    )


def _needed(entry: BackendEntry) -> str:
    """Returns what a backend needs first."""
    needed = entry.config_hint or entry.install_hint or "see `abstractcore plugins`"
    first = needed.partition(";")[0].removesuffix(" in create_llm")
    return first if first.endswith("...") else first.rstrip(".")
