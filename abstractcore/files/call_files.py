"""`CallFiles`: the files of one LLM's calls, from the call to its request, and read again for checks of the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from ..ports import CallContext, Clock, MediaHandler, ProviderSession, Runtime
from ..schema import Lowered, MediaPart, ModelCall

if TYPE_CHECKING:
    from ..ports import (
        ArtifactStore,
        Captioner,
        Conversion,
        ConversionStore,
        Fetcher,
        Isolation,
        MediaContext,
        ModelStore,
        StoredFileIndex,
        Transcriber,
    )
    from ..schema import Blob
    from .contents import MadeFiles
    from .facts import FactsByFile, FileFacts
    from .policies import MediaDefaults
    from .upload_requests import Operate
    from .uploads import FileUploads, StoredBlobs


class FileServices(Protocol):
    """The services that files need, each created when it is first read."""

    @property
    def models(self) -> ModelStore:
        """The store of model weights."""
        ...

    @property
    def artifacts(self) -> ArtifactStore:
        """The store of blobs of form "artifact"."""
        ...

    @property
    def conversions(self) -> ConversionStore:
        """The conversions that are kept."""
        ...

    @property
    def stored_files(self) -> StoredFileIndex:
        """The index of files that were uploaded to providers."""
        ...

    @property
    def fetcher(self) -> Fetcher:
        """Downloads files that are given as URLs."""
        ...

    @property
    def isolation(self) -> Isolation:
        """Runs decoders of files in processes of their own."""
        ...

    @property
    def spare_cores(self) -> int:
        """Processor cores that a conversion may use."""
        ...

    @property
    def configuration(self) -> MediaDefaults:
        """What holds for kinds of files for which a call sets nothing."""
        ...


class CallFiles:
    """The files of one LLM's calls.

    `options` are those of `create_llm` for media; `captioner` and `transcriber` are the models of a provider that they
    name. `passwords` has those of encrypted files, by the hash of the file.
    """

    def __init__(
        self,
        session: ProviderSession,
        handlers: Sequence[MediaHandler],
        services: FileServices,
        options: Mapping[str, Any],
        captioner: Captioner | None = None,
        transcriber: Transcriber | None = None,
    ) -> None:
        self.handlers = handlers
        self.options = options
        self.passwords: dict[str, str] = {}
        self._session = session
        self._services = services
        self._captioner = captioner
        self._transcriber = transcriber
        self._facts: FileFacts | None = None

    def defaults(self) -> MediaDefaults:
        """Returns the configuration for kinds of files; it is read on first use."""
        return self._services.configuration

    @property
    def facts(self) -> FileFacts:
        """What measures files, created for the first of them."""
        if self._facts is None:
            from .facts import FileFacts

            self._facts = FileFacts(self.handlers, self.artifact, self.context)
        return self._facts

    async def facts_of(self, call: ModelCall, runtime: Runtime) -> FactsByFile:
        """Returns the facts of the files of a call that may decide how they are sent."""
        return await self.facts.for_call(call, self._session.profile, runtime)

    async def execute(
        self,
        lowered: Lowered,
        lower_again: Callable[[MadeFiles], Lowered],
        context: CallContext,
        clock: Clock,
        operate: Operate,
    ) -> Lowered:
        """Returns the call with every decision for its files executed, within the limits of its request: see
        `execute_within_limits`. Files for the provider's store are uploaded with `operate`.
        """
        from .execution import execute_within_limits

        def store(blobs: Sequence[Blob]) -> Awaitable[StoredBlobs]:
            return self.uploads(context.runtime, clock, operate).store(blobs, context)

        executed = await execute_within_limits(
            lowered,
            lower_again,
            self._session.profile,
            self.handlers,
            self.context(),
            self.artifact,
            self.facts,
            context,
            store,
        )
        if not self._session.profile.media_after_results:
            return executed
        from .tool_results import move_files_after_results

        return move_files_after_results(executed)

    def as_planned(self, lowered: Lowered) -> Lowered:
        """Returns a plan with what is known of conversions before they are made; may block."""
        from .execution import as_planned

        return as_planned(lowered, self.handlers, self.context())

    def uploads(self, runtime: Runtime, clock: Clock, operate: Operate) -> FileUploads:
        """Returns the uploader to the provider's store."""
        from .uploads import FileUploads

        return FileUploads(self._session, runtime, clock, self._services.stored_files, operate)

    async def extract_text(
        self, part: MediaPart, runtime: Runtime, *, words_only: bool = False, trace_id: str | None = None
    ) -> Conversion:
        """Returns the text of a file, also of one that was sent natively; raises `MediaError` if it has none.

        With `words_only`, it is the words of the file alone: see `extract_words`. `trace_id` is that of the call.
        """
        from .extraction import extract_text, extract_words

        extract, media = extract_words if words_only else extract_text, replace(self.context(), trace_id=trace_id)
        return await runtime.call(extract, part, self.handlers, media, self.artifact, kind="files")

    async def page_words(self, part: MediaPart, page: int, runtime: Runtime) -> str | None:
        """Returns the text that is read on the image of a page; None for a file without such pages. Raises as
        `extract_text`.
        """
        from .extraction import page_words

        return await runtime.call(page_words, part, page, self.handlers, self.context(), self.artifact, kind="files")

    async def retranscribe(
        self, part: MediaPart, spans: Sequence[tuple[float, float]], runtime: Runtime
    ) -> Conversion | None:
        """Returns a second transcript of spans of a recording, if there is a means; raises as `extract_text`."""
        from .extraction import retranscribe

        return await runtime.call(retranscribe, part, spans, self.handlers, self.context(), self.artifact, kind="files")

    def artifact(self, sha256: str) -> bytes:
        """Returns the content of an artifact; the store is created on first use."""
        return self._services.artifacts.get(sha256)

    def context(self) -> MediaContext:
        """Returns the services of handlers. They are created for files only: importing the model store takes long."""
        from ..ports import MediaContext

        services, profile = self._services, self._session.profile
        return MediaContext(
            services.models,
            self.options,
            services.spare_cores,
            passwords=self.passwords,
            captioner=self._captioner,
            transcriber=self._transcriber,
            fetcher=services.fetcher,
            conversions=services.conversions,
            isolation=services.isolation,
            image_tokens=profile.media_tokens.get("image"),
            image_limits=profile.media_limits,
            image_types=profile.types_of("image"),
        )
