"""Connects an LLM to its capabilities: what `llm.voice`, `llm.audio`, `llm.vision` and `llm.music` need of it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

from ..capabilities import Caller
from ..ports import Pricing, Runtime
from ..schema import GenerateResponse, MediaPart

if TYPE_CHECKING:
    from .capabilities import Capabilities
    from .llm_base import LLMBase
    from .pipelines import Pipelines
    from .preparing import CallPreparer


def caller_of(llm: LLMBase, pipelines: Pipelines, calls: CallPreparer, capabilities: Capabilities) -> Caller:
    """Returns what the capabilities of `llm` need of it."""
    services = pipelines.services

    def load(source: Any, path: str) -> MediaPart:
        return pipelines.media_loader().load_one(source, path)

    def download(url: str) -> bytes:
        return services.fetcher.fetch(url).data

    def pricing(model: str) -> Pricing | None:
        provider, _, name = model.partition("/")
        return services.catalogue.pricing(provider, name)

    def generate(
        runtime: Runtime, prompt: str, model: str | None, request: Mapping[str, Any]
    ) -> Awaitable[GenerateResponse[Any]]:
        return capabilities.model(model, llm).answered_in(runtime, prompt, request)

    return Caller(
        registry=services.registry,
        services=services,
        sync=lambda: pipelines.sync,
        asynchronous=lambda: pipelines.asynchronous,
        options={**_of_recordings(pipelines.media_options), **capabilities.options},
        defaults=calls.scoped_defaults,
        load=load,
        download=download,
        pricing=pricing,
        transcriber=pipelines.new_transcriber,
        llm=lambda: llm,
        generate=generate,
        scrub=pipelines.secrets.error,
        check_open=llm.check_open,
        max_retries=capabilities.max_retries,
        random=services.random,
    )


def _of_recordings(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the options of `create_llm` for transcripts, which backends may follow too."""
    return {name: value for name, value in options.items() if name.startswith("transcription_")}
