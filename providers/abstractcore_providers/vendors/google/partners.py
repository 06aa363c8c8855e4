"""The providers `vertex-anthropic` and `vertex-openai`: models of others on Vertex AI, through their own APIs."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.ports import Endpoint, ModelProfile, ProviderConfig, ProviderSession

from ...common.endpoints import setting_names
from ..anthropic import API_VERSION_OPTION, claude_session
from ..vendor_provider import with_encodable
from .provider import VertexProvider


class VertexAnthropicProvider(VertexProvider):
    """Claude on Vertex AI: the Messages API, at `rawPredict` and `streamRawPredict`."""

    name = "vertex-anthropic"
    summary = "Anthropic's models on Vertex AI, Messages API, in a Google Cloud project"
    example_model = "claude-opus-5-5"
    version, needs_project = "/v1", True
    options: Mapping[str, str] = {**VertexProvider.options, **API_VERSION_OPTION}

    def setting_names(self) -> frozenset[str]:
        """Returns the fields of the format's dialect."""
        from ...formats.anthropic_messages import MessagesDialect

        return setting_names(MessagesDialect)

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        return claude_session(self.name, model, endpoint, config, profile, raw_predict=True)


class VertexOpenAIProvider(VertexProvider):
    """Open models on Vertex AI, chat completions
    (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/maas/call-open-model-apis).
    """

    name = "vertex-openai"
    summary = "open models on Vertex AI, chat completions, in a Google Cloud project"
    example_model = "openai/gpt-oss-120b-maas"
    version, path, needs_project = "/v1", "/endpoints/openapi", True

    def setting_names(self) -> frozenset[str]:
        """Returns no names: the format has no settings."""
        return frozenset()

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ...formats.openai_chat import ENCODABLE, OpenAIChat
        from ...formats.openai_chat.dialect import VERTEX

        return ProviderSession(model, OpenAIChat(VERTEX), endpoint, with_encodable(profile, ENCODABLE))
