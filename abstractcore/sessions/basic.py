"""`BasicSession`: a session under the names of earlier releases of AbstractCore."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from ..errors import ConfigurationError, InvalidInputError
from ..schema import GenerateResponse, Message, SchemaError
from ..schema.base_error import shown
from .session import Session

if TYPE_CHECKING:
    from ..client.llm import LLM
    from ..client.streams import AsyncStream, Stream

_ROLES = ("system", "user", "assistant")


class BasicSession:
    """A `Session` in memory, under the names `generate`, `add_message`, `get_messages`, `get_history`. `session` is the
    session itself. `provider` is an LLM; `options` are those of `Session`.
    """

    def __init__(
        self,
        provider: LLM | None = None,
        system_prompt: str | None = None,
        tools: Sequence[Callable[..., Any]] | None = None,
        **options: Any,
    ) -> None:
        if provider is None:
            hint = "BasicSession(create_llm(...))."
            raise ConfigurationError("the session has no model.", hint=hint)
        self.session: Session = Session(provider, system_prompt=system_prompt, tools=tuple(tools or ()), **options)

    @property
    def provider(self) -> LLM:
        """The LLM."""
        return self.session.llm

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.session.id

    @property
    def system_prompt(self) -> str | None:
        """The instructions of every call."""
        return self.session.system_prompt

    @property
    def messages(self) -> list[Message]:
        """The messages, with the system prompt as the first."""
        system = () if self.system_prompt is None else (Message.system(self.system_prompt),)
        return [*system, *self.session.messages]

    def generate(self, prompt: str, *, stream: bool = False, **options: Any) -> GenerateResponse[Any] | Stream[Any]:
        """As `Session.ask`, or with `stream=True` as `Session.stream`."""
        return self.session.stream(prompt, **options) if stream else self.session.ask(prompt, **options)

    async def agenerate(
        self, prompt: str, *, stream: bool = False, **options: Any
    ) -> GenerateResponse[Any] | AsyncStream[Any]:
        """The async version of `generate`."""
        return self.session.astream(prompt, **options) if stream else await self.session.aask(prompt, **options)

    def add_message(self, role: Literal["system", "user", "assistant"], content: str) -> Message:
        """Adds a message of a text, and returns it; raises `InvalidInputError` for another role, or an empty text."""
        if role not in _ROLES:
            hint = "Results of tools: session.session.add(call.result(...))."
            raise InvalidInputError(f"{shown(role)} is not one of {', '.join(_ROLES)}", path="role", hint=hint)
        try:
            message = {"system": Message.system, "user": Message.user, "assistant": Message.assistant}[role](content)
        except SchemaError as error:
            raise InvalidInputError(error.message, path="content") from None
        self.session.add(message)
        return message

    def get_messages(self) -> list[Message]:
        """Returns the messages, with the system prompt as the first."""
        return self.messages

    def get_history(self, include_system: bool = True) -> list[dict[str, Any]]:
        """Returns the messages as mappings of role and content; those of tools are in OpenAI's format."""
        messages = [dict(each) for each in self.session.to_openai()]
        return messages if include_system else [each for each in messages if each.get("role") != "system"]

    def clear_history(self, keep_system: bool = True) -> None:
        """Removes all messages, and with `keep_system=False` the system prompt."""
        self.session.clear(keep_system=keep_system)

    def get_token_estimate(self) -> int:
        """Returns about how many tokens the messages have for the model."""
        return self.session.estimated_tokens

    def should_compact(self, token_limit: int = 8000) -> bool:
        """Returns whether the messages have more tokens than that.

        `token_limit` is the length, in tokens, from which on it should be.
        """
        return self.get_token_estimate() > token_limit

    def compact(self, preserve_recent: int = 6, focus: str | None = None) -> Self:
        """Returns another session in which all but the last exchanges are a summary."""
        other = type(self).__new__(type(self))
        other.session = self.session.fork()
        other.force_compact(preserve_recent, focus)
        return other

    def force_compact(self, preserve_recent: int = 6, focus: str | None = None) -> None:
        """As `Session.compact`: changes this session."""
        self.session.compact(preserve_recent, focus)

    def save(self, filepath: str | os.PathLike[str]) -> None:
        """As `Session.save`."""
        self.session.save(filepath)

    @classmethod
    def load(
        cls,
        filepath: str | os.PathLike[str],
        provider: LLM | None = None,
        tools: Sequence[Callable[..., Any]] | None = None,
        **options: Any,
    ) -> Self:
        """As `Session.load`."""
        loaded = cls(provider, None, tools, **options)
        loaded.session = Session.load(filepath, loaded.provider, tools=tuple(tools or ()), **options)
        return loaded

    def __repr__(self) -> str:
        return f"Basic{repr(self.session)[1:-1]}"
