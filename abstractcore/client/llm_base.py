"""`LLMBase`: what an LLM is besides its calls: its parts, its capabilities and its end."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..engine import shown_url
from ..errors import ConfigurationError, UnsupportedOptionError
from ..outputs import ResponseModel
from ..ports import Endpoint, HasOperations, KnownUrl, Operation
from ..schema import EMPTY, GenerateResponse, ModelCall
from .capabilities import Capabilities
from .operations import find_operation
from .options import CallRequest, ResumeRequest
from .pipelines import Pipelines
from .preparing import CallPreparer, PendingCall

if TYPE_CHECKING:
    from typing import Self

    from ..schema import ToolAnswer, ToolLoop
    from .stored_files import StoredFiles

_COUNT_TOKENS = "count_tokens"


class LLMBase:
    """A model of a provider. After `with` or `close`, calls raise `ConfigurationError`."""

    def __init__(self, provider: str, pipelines: Pipelines, capabilities: Capabilities, calls: CallPreparer) -> None:
        self.provider = provider
        self.model = pipelines.session.model
        self._pipelines = pipelines
        self._capabilities = capabilities
        self._calls = calls
        self._closed = False

    @property
    def calls(self) -> Sequence[ModelCall]:
        """The calls of a scripted model so far; raises `ConfigurationError` for other models."""
        calls = self._pipelines.session.calls
        if calls is None:
            raise ConfigurationError(f"{self.provider!r} does not record its calls: only scripted models do.")
        return calls

    @property
    def files(self) -> StoredFiles:
        """The files that were uploaded to the provider's file store for this account; see `file_store`."""
        from .stored_files import StoredFiles

        self._check_open()
        return StoredFiles(self.provider, self._pipelines, self._calls.headers)

    def capability(self, name: str) -> Any:
        """Returns the object of the capability plugin `name`, which is created on first use.

        Its options are those of `create_llm` that begin with its name and `_`. Raises `UnknownCapabilityError` with
        similar names, and `PluginError` if the plugin fails.
        """
        self._check_open()
        return self._capabilities.get(name)

    def close(self) -> None:
        """Closes this LLM. Connections are shared by the process: they stay open for others, and are closed when idle.

        A model on this machine is unloaded after its running calls, if no other LLM uses it.
        """
        if not self._closed:
            self._closed = True
            self._pipelines.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"LLM({self.provider}/{self.model}{_location(self._pipelines.session.endpoint)})"

    def _request(
        self, prompt: str | None, response_model: ResponseModel | None, request: CallRequest, stream: bool
    ) -> PendingCall:
        self._check_open()
        return self._calls.request(prompt, response_model, request, self, stream=stream)

    def _given(self, call: ModelCall, timeout: float | None, stream: bool) -> PendingCall:
        self._check_open()
        return self._calls.given(call, timeout, stream=stream)

    def _resumed(
        self,
        loop: ToolLoop | GenerateResponse[Any] | None,
        answers: Sequence[ToolAnswer],
        response_model: ResponseModel | None,
        request: ResumeRequest,
        stream: bool,
    ) -> PendingCall:
        self._check_open()
        return self._calls.resumed(loop, answers, response_model, request, self, stream=stream)

    def _count_operation(self) -> Operation[int]:
        transpiler = self._pipelines.session.transpiler
        if not isinstance(transpiler, HasOperations) or _COUNT_TOKENS not in transpiler.operations:
            hint = "Call the model, and read `response.usage`."
            raise UnsupportedOptionError("this provider has no token-counting endpoint.", hint=hint)
        return find_operation(transpiler, _COUNT_TOKENS, EMPTY)

    def _check_open(self) -> None:
        if self._closed:
            raise ConfigurationError("this LLM is closed.", hint="Create another with create_llm.")


def _location(endpoint: Endpoint) -> str:
    """Returns the URL of the endpoint for the repr, if it has one."""
    if not isinstance(endpoint, KnownUrl):
        return ""
    return " at a URL known after the first call" if endpoint.url is None else f" at {shown_url(endpoint.url)}"
