"""Inputs of operations other than chat: frozen data that says what is requested, and of which model.

Annotations are evaluated here, since those of a dataclass are also annotations of its subclasses in other modules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from .base_error import SchemaError, shown
from .calls import Message, ModelCall, labels
from .json_values import EMPTY, check_class, check_flag, check_items, check_text
from .parts import MediaPart
from .reprs import Immutable


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationInput(Immutable):
    """The base class of inputs without a call: texts to embed, a file to store, a job to poll. Subclasses are frozen
    dataclasses with fields of their own, whose values JSON can represent.

    `tags`, `parent_id` and `trace_context` are for records and never sent. With `strict`, what the request cannot
    express is an error, not a warning.
    """

    model: str
    provider: str = ""
    strict: bool = False
    tags: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    parent_id: str | None = None
    trace_context: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    def __post_init__(self) -> None:
        check_text(self.model, "model")
        check_text(self.provider, "provider")
        check_flag(self.strict, "strict")
        if self.parent_id is not None:
            check_text(self.parent_id, "parent_id")
        for name in ("tags", "trace_context"):
            if getattr(self, name) is not EMPTY:
                object.__setattr__(self, name, labels(getattr(self, name), name))

    @property
    def files(self) -> Sequence[MediaPart]:
        """The files that are read when the input is encoded, in a worker thread then."""
        return ()

    def with_(self, **changes: object) -> Self:
        """Returns a copy with changed fields, validated like a new input; raises `TypeError` for an unknown field."""
        return replace(self, **changes)

    def for_record(self) -> "OperationInput":
        """Returns the input as records have it: without content that is too large for them."""
        return self


@dataclass(frozen=True, slots=True)
class CallInput(Immutable):
    """The base class of inputs that are a call with arguments of the operation. The call is lowered as that of a chat
    is, and names the model; the fields of subclasses are the arguments.
    """

    call: ModelCall

    def __post_init__(self) -> None:
        check_class(self.call, ModelCall, "call")

    @property
    def model(self) -> str:
        """The model of the call."""
        return self.call.model

    @property
    def provider(self) -> str:
        """The provider of the call."""
        return self.call.provider

    @property
    def strict(self) -> bool:
        """Whether losses are errors."""
        return self.call.strict

    @property
    def tags(self) -> Mapping[str, str]:
        """The tags of the call."""
        return self.call.tags

    @property
    def trace_context(self) -> Mapping[str, str]:
        """The trace context of the call."""
        return self.call.trace_context

    @property
    def parent_id(self) -> str | None:
        """The id of the parent operation."""
        return self.call.parent_id

    def with_(self, **changes: object) -> Self:
        """Returns a copy with changed fields, validated like a new input; raises `TypeError` for an unknown field."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class ModelListInput(OperationInput):
    """A page of the list of a provider's models: the first one, or the one `after` that is `ModelList.next`."""

    after: str | None = None

    def __post_init__(self) -> None:
        OperationInput.__post_init__(self)
        if self.after is not None and not isinstance(self.after, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SchemaError(f"expected the `next` of a page, got {shown(self.after)}", "after")


@dataclass(frozen=True, slots=True)
class StoredReplyInput(OperationInput):
    """A reply that the provider stores, by its `id`. It continues `messages`: ids of its tool calls are not those."""

    id: str
    messages: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        OperationInput.__post_init__(self)
        if not isinstance(self.id, str) or not self.id:  # pyright: ignore[reportUnnecessaryIsInstance]
            hint = "Pass the id of the reply: response.reply.id."
            raise SchemaError(f"expected the id of a reply, got {shown(self.id)}", "id", hint=hint)
        object.__setattr__(self, "messages", check_items(self.messages, Message, "messages"))
