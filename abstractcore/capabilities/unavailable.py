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
