"""The provider `scripted`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from abstractcore.ports import ModelProfile, ProviderConfig, ProviderServices, ProviderSession


@dataclass(frozen=True, slots=True)
class ScriptedProvider:
    """`create_llm("scripted", replies=[...])`."""

    name: str = "scripted"
    summary: str = "predefined replies, for tests"

    @property
    def options(self) -> Mapping[str, str]:
        """The provider's own options."""
        return {"replies": "a list of texts, ScriptedReply or ModelReply objects, errors to raise, functions"}

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """Returns a session that plays the script from its beginning."""
        from abstractcore.ports import Price

        from .canonical_json import CanonicalJson
        from .script import Script
        from .transport import ScriptedEndpoint

        script = Script(config.options.get("replies", ()))
        return ProviderSession(
            model=config.model or "scripted",
            transpiler=CanonicalJson(),
            endpoint=ScriptedEndpoint(script),
            profile=ModelProfile(),
            price=Price(0, 0),
            calls=script.calls,
        )
