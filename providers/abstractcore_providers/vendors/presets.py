"""`Preset`: a vendor whose API is compatible with OpenAI's chat completions, as a row of data.

Requests, responses and errors on the wire: `formats/openai_chat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from ..formats.openai_chat import ENCODABLE, ChatDialect, OpenAIChat
from .vendor_provider import VendorProvider


@dataclass(frozen=True, slots=True)
class Preset(VendorProvider):
    """An OpenAI-compatible vendor: the address and the key are described at `VendorProvider`.

    With `runs_templates`, it is a server that writes the prompt with the chat template of the model, which accepts one
    system message. `model_examples` are prefixes of names that only this vendor's models have, each with an example.
    Facts about its models are in its file of the catalogue.
    """

    name: str
    summary: str
    default_url: str | None
    key_variable: str
    key_needed: bool = True
    url_variable: str = ""
    url_path: str = ""
    other_key_variables: tuple[str, ...] = ()
    dialect: ChatDialect = field(default_factory=ChatDialect)
    model_examples: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    runs_templates: bool = False

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        if not (profile.known or profile.encodable):
            profile = replace(profile, encodable=ENCODABLE)
        if self.runs_templates:
            profile = replace(profile, one_system_message=True)
        return ProviderSession(model, OpenAIChat(_for_model(self.dialect, profile)), endpoint, profile)


def _for_model(dialect: ChatDialect, profile: ModelProfile) -> ChatDialect:
    """Returns the dialect with the vendor's words for the model's levels of thinking, and what it is as a
    transcriber.
    """
    if profile.transcription is not None:
        dialect = replace(dialect, transcription=profile.transcription)
    if profile.thinking is None or not profile.thinking.words or dialect.thinking is None:
        return dialect
    return replace(dialect, thinking=replace(dialect.thinking, words=profile.thinking.words))
