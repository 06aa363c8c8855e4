"""The provider of models that run on this machine, without a key and without a network once their weights are here."""

from __future__ import annotations

from collections.abc import Mapping

from abstractcore.errors import ConfigurationError
from abstractcore.ports import ModelProfile, Price, ProviderConfig, ProviderServices, ProviderSession
from abstractcore.schema import Sampling

from .endpoint import LocalEndpoint
from .servers import START_LIMIT, ServerPool

DEFAULT_MODEL = "smollm2-135m-instruct"
DEFAULT_CONTEXT = 8192
_SMALLEST_CONTEXT = 256

RECOMMENDED_SAMPLING = {DEFAULT_MODEL: Sampling(max_output_tokens=512, temperature=0.2, top_p=0.9)}
"""Temperature and top_p from SmolLM2's model card. The limit is ours: a model this small may repeat itself without end,
and 512 tokens take about 15 s; an answer that reaches it has `finish_reason` "length"."""


class LocalProvider:
    """Runs llama.cpp in child processes, which it owns. `start_limit` is how long a model may load, in seconds."""

    name = "local"
    summary = "Small models on this machine, by llama.cpp; no key and no server to set up."
    options: Mapping[str, str] = {
        "context_size": f"tokens of prompt and reply together, {DEFAULT_CONTEXT} unless told; "
        "a model trained on fewer stops at its own limit",
        "threads": "processor threads; physical cores minus one unless told",
    }

    def __init__(self, start_limit: float = START_LIMIT) -> None:
        self._pool = ServerPool(start_limit)

    def connect(self, config: ProviderConfig, services: ProviderServices) -> ProviderSession:
        """A session for `config.model`, a name or path that the model store knows. No I/O."""
        # Here and not above: listing the providers should not load a wire format.
        from ..formats.openai_chat import OpenAIChat
        from ..formats.openai_chat.dialect import LLAMA_CPP

        if config.base_url:
            raise ConfigurationError(
                "the local provider runs the model itself and takes no base_url",
                hint="For a server that is running already, use the provider for its kind, such as `ollama`.",
            )
        model = config.model or DEFAULT_MODEL
        context_size = _whole_number(config, "context_size", _SMALLEST_CONTEXT) or DEFAULT_CONTEXT
        threads = _whole_number(config, "threads", 1)
        endpoint = LocalEndpoint(model, context_size, threads, services, self._pool)
        return ProviderSession(
            model=model,
            transpiler=OpenAIChat(LLAMA_CPP),
            endpoint=endpoint,
            profile=ModelProfile(
                context_tokens=context_size, price=Price(0.0, 0.0), sampling=RECOMMENDED_SAMPLING.get(model)
            ),
            own_process=True,
            close=endpoint.close,
        )

    def close(self) -> None:
        """End the models' processes; the next call starts them again."""
        self._pool.close()


def _whole_number(config: ProviderConfig, option: str, least: int) -> int | None:
    """The option's value; None if it was not given."""
    value = config.options.get(option)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigurationError(
            f"{option} is {value!r}, expected an integer", hint=f"Give {least} or more.", provider="local"
        )
    return value
