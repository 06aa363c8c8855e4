"""The provider of models that an Ollama server runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from abstractcore.errors import AbstractCoreError, ConfigurationError, ConnectionFailedError, ProviderError
from abstractcore.ports import (
    Address,
    ModelProfile,
    ProviderConfig,
    ProviderServices,
    ProviderSession,
    Runtime,
    Thinking,
)

from ..common.endpoints import NoAuth, add_key_hint, base_url, check_url, is_missing_path, key_auth
from ..common.media_types import OLLAMA_IMAGES

DEFAULT_URL = "http://localhost:11434"
_DEFAULT_PORT = 11434
_OTHER_PATHS = ("/v1", "/api", "/api/chat")
"""What other clients of the same server want at the end of its address."""
_SEES = OLLAMA_IMAGES
_TEXT = frozenset[str]()
_LEVELS = Thinking(("low", "medium", "high"), can_be_off=False)
_ON_OR_OFF = Thinking(("medium",))
_FAMILIES: tuple[tuple[str, frozenset[str], Thinking], ...] = (
    ("gpt-oss", _TEXT, _LEVELS),
    ("deepseek-r1", _TEXT, _ON_OR_OFF),
    ("deepseek-v3.1", _TEXT, _ON_OR_OFF),
    ("gemma3:270m", _TEXT, Thinking()),
    ("gemma3:1b", _TEXT, Thinking()),
    ("gemma3", _SEES, Thinking()),
    ("llama3.2-vision", _SEES, Thinking()),
    ("llava", _SEES, Thinking()),
    ("bakllava", _SEES, Thinking()),
    ("llama4", _SEES, Thinking()),
    ("qwen2.5vl", _SEES, Thinking()),
    ("llama3.1", _TEXT, Thinking()),
    ("llama3.2", _TEXT, Thinking()),
    ("llama3.3", _TEXT, Thinking()),
)
"""Beginnings of names, each with what those models take (docs.ollama.com: "Vision", "Thinking"; ollama.com/library)."""


@dataclass(frozen=True, slots=True)
class OllamaEndpoint:
    """An Ollama server at a known address."""

    address: Address

    @property
    def url(self) -> str:
        """The address's."""
        return self.address.url

    async def open(self, runtime: Runtime) -> Address:
        """The address."""
        return self.address

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """The error itself, with where the key comes from if it was refused; for a server that does not answer, how to
        start one.
        """
        if not isinstance(self.address.auth, NoAuth):
            add_key_hint(error, self.address.auth)
        if isinstance(error, ConnectionFailedError) and not error.connected and error.proxy is None:
            error.hint = "Start the server with `ollama serve`, or say where it is: base_url=..., or OLLAMA_HOST."
        parts = urlsplit(self.address.url)
        if parts.path in _OTHER_PATHS and is_missing_path(error):
            error.hint = (
                f"Ollama's own API has no {parts.path} before it: try base_url='{parts.scheme}://{parts.netloc}'."
            )
        return error


class OllamaProvider:
    """Ollama's own API, of a server on this machine or elsewhere, or of ollama.com with a key."""

    name = "ollama"
    summary = "models that an Ollama server runs, on this machine unless told"
    model_examples: Mapping[str, str] = {
        "deepseek-r1": "deepseek-r1",
        "gemma": "gemma3",
        "gpt-oss": "gpt-oss",
        "llama": "llama3.2",
        "mixtral": "mixtral",
        "phi": "phi4",
        "qwen": "qwen3",
    }
    options: Mapping[str, str] = {
        "context_size": "tokens of prompt and reply together to ask the server for; as many as a call needs unless told"
    }

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session; raises `ConfigurationError` without a model, or with an address that is none. No I/O."""
        # Here and not above: listing the providers should not load a wire format.
        from ..formats.ollama import OllamaChat

        if not config.model:
            raise ConfigurationError("'ollama' needs a model's name.", hint="As in create_llm('ollama', model='...').")
        size = _context_size(config)
        url = base_url(config, {}) or _url_of(services.environment.get("OLLAMA_HOST", ""))
        return ProviderSession(
            model=config.model,
            transpiler=OllamaChat(size),
            endpoint=OllamaEndpoint(
                Address(url, key_auth(config, services.environment, "OLLAMA_API_KEY", needed=False))
            ),
            profile=_profile(config.model, size),
        )


def _url_of(host: str) -> str:
    """The URL of OLLAMA_HOST, which may be a name or a port alone, or the address a server listens at."""
    host = host.strip().strip("\"'")
    if not host:
        return DEFAULT_URL
    if "://" in host:
        return check_url(host, "OLLAMA_HOST").rstrip("/")
    parts = urlsplit(f"http://{host}")
    try:
        port = parts.port or _DEFAULT_PORT
    except ValueError:
        raise ConfigurationError(
            f"OLLAMA_HOST {host!r} is no address.", hint="As in OLLAMA_HOST=localhost:11434."
        ) from None
    name = parts.hostname or "localhost"
    name = "localhost" if name in ("0.0.0.0", "::") else name
    return f"http://{f'[{name}]' if ':' in name else name}:{port}{parts.path}"


def _context_size(config: ProviderConfig) -> int | None:
    size = config.options.get("context_size")
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise ConfigurationError(
            f"context_size is {size!r}, expected an integer", hint="Give it in tokens.", provider="ollama"
        )
    return size


def _profile(model: str, context_size: int | None) -> ModelProfile:
    for beginning, accepts, thinking in _FAMILIES:
        if model.startswith(beginning):
            return ModelProfile(accepts, context_size, thinking=thinking, cache_points=0)
    return ModelProfile(assumed=_SEES, carried=_SEES, context_tokens=context_size, cache_points=0, known=False)
