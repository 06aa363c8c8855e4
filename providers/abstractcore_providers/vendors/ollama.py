"""The provider `ollama`. Requests, responses and errors on the wire: `formats/ollama`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from abstractcore.errors import AbstractCoreError, ConfigurationError, ConnectionFailedError, ProviderError
from abstractcore.ports import Address, Endpoint, ModelProfile, ProviderConfig, ProviderSession

from ..common.endpoints import FixedEndpoint, NoAuth, add_key_hint, base_url, check_url, key_auth
from .vendor_provider import VendorProvider, with_encodable

DEFAULT_URL = "http://localhost:11434"
_DEFAULT_PORT = 11434
_OTHER_PATHS = ("/v1", "/api", "/api/chat")
"""Paths of the addresses that other clients of the same server use. They are left out."""


class OllamaEndpoint(FixedEndpoint):
    """An Ollama server at a known address."""

    __slots__ = ()

    def diagnose(self, error: ProviderError) -> AbstractCoreError:
        """Returns the error, with the source of a refused key, or how to start a server that does not answer."""
        if not isinstance(self.address.auth, NoAuth):
            add_key_hint(error, self.address.auth)
        if isinstance(error, ConnectionFailedError) and not error.connected and error.proxy is None:
            error.hint = "Start the server with `ollama serve`, or pass its address: base_url=..., or set OLLAMA_HOST."
        return error


class OllamaProvider(VendorProvider):
    """Ollama's own API on a local or remote server, or on ollama.com with a key."""

    name = "ollama"
    summary = "an Ollama server, on this machine by default"
    default_url = DEFAULT_URL
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
        "context_size": "tokens of prompt and reply together to ask the server for; by default as many as a call needs"
    }

    def endpoint(self, config: ProviderConfig, environment: Mapping[str, str]) -> Endpoint:
        """The server at `base_url`, `OLLAMA_HOST` or the configuration's URL; a key is optional."""
        host = environment.get("OLLAMA_HOST", "").strip()
        url = None if host and not config.base_url else base_url(config, {})
        url = url or _url_of(host)
        parts = urlsplit(url)
        if parts.path in _OTHER_PATHS:
            url = f"{parts.scheme}://{parts.netloc}"
        return OllamaEndpoint(Address(url, key_auth(config, environment, "OLLAMA_API_KEY", needed=False)))

    def models_hint(self, endpoint: Endpoint) -> str:
        """Returns "": the format's errors say how to fetch the model."""
        return ""

    def session(self, model: str, endpoint: Endpoint, config: ProviderConfig, profile: ModelProfile) -> ProviderSession:
        from ..formats.ollama import ENCODABLE, OllamaChat

        size, profile = _context_size(config), with_encodable(profile, ENCODABLE)
        profile = replace(profile, one_system_message=True)  # its templates are the models' own
        if size is not None:
            profile = replace(profile, context_tokens=size)
        return ProviderSession(model, OllamaChat(size), endpoint, profile)


def _url_of(host: str) -> str:
    """Returns the URL of OLLAMA_HOST, which may be a host or a port alone, or the address that a server listens on."""
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
            f"OLLAMA_HOST {host!r} is not an address.", hint="For example: OLLAMA_HOST=localhost:11434."
        ) from None
    name = parts.hostname or "localhost"
    name = "localhost" if name in ("0.0.0.0", "::") else name
    return f"http://{f'[{name}]' if ':' in name else name}:{port}{parts.path}"


def _context_size(config: ProviderConfig) -> int | None:
    size = config.options.get("context_size")
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise ConfigurationError(
            f"context_size is {size!r}, expected a positive integer",
            hint="Pass the number of tokens.",
            provider="ollama",
        )
    return size
