"""`POST /v1/moderations` (https://platform.openai.com/docs/api-reference/moderations), at providers that have it. The
bytes of both sides go through: categories and scores are the vendor's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import jiter
from pydantic_core import to_json

import abstractcore
from abstractcore.concurrency import is_large
from abstractcore.errors import InvalidInputError, ModelNotFoundError, ServerError
from abstractcore.ports import Operation
from abstractcore.schema import Encoded, Message, ModelCall, OperationInput, WireRequest, WireResponse

from ..access.guarding import Guarding, accepted_texts
from ..access.settlements import Spending
from ..context import RequestContext
from ..dialects.base import EXTENSION, text_at
from ..failures import refusal
from ..media.backends import timeout_of
from ..models import ResolvedModel
from ..records import RECEIPT_HEADER, Receipt
from ..requests import read_object
from .jobs import answer_of_members, in_member_time
from .passthrough import Relay, digest_of, texts_in, with_text

_MODERATE: Final = "moderate"
_MODEL: Final = "model"
_DEFAULT: Final = "omni-moderation-latest"
"""The model of OpenAI's API for a request that names none."""
_OPENAI: Final = ("openai", "openai-responses")
"""Providers of bare names. OpenAI does not charge for moderation:
https://developers.openai.com/api/docs/guides/moderation
"""
_HAVE_IT: Final = (*_OPENAI, "mistral", "openai-compatible")
"""Providers with OpenAI's endpoint; Mistral's: https://docs.mistral.ai/api/endpoint/classifiers. Of compatible servers
some have it, others answer with an error.
"""


async def moderate(context: RequestContext) -> WireResponse:
    """Moderates texts and images at a provider.

    Raises `ModelNotFoundError`, and `RequestRefused` for a model of a provider without the endpoint.
    """
    body = context.entry.receipt.request = await context.body()
    data = await context.off_loop(is_large(body), read_object, body, context.request.headers)
    if EXTENSION in data:
        raise InvalidInputError("it has no effect on moderations: leave it out", path=EXTENSION)
    given = await context.off_loop(is_large(body), ModerationInput.of, data.get("input"))
    resolved = _resolve(context, text_at(data, _MODEL) if _MODEL in data else _DEFAULT)
    context.grant.check_model(*resolved.names)
    async with context.state.drains.watch(context.connection, resolved.on_disconnect):
        return await answer_of_members(context, resolved, lambda llm: _moderate(context, resolved, llm, data, given))


def _resolve(context: RequestContext, name: str) -> ResolvedModel:
    llms = context.state.llms
    usable = ", ".join(each for each in _HAVE_IT if llms.usable(each)) or "none"
    hint = f"Providers with a moderation endpoint: {', '.join(_HAVE_IT)}; of these set up here: {usable}."
    try:
        resolved = llms.find(name, _OPENAI)
    except ModelNotFoundError as error:
        raise ModelNotFoundError(f"{error.message} {hint}") from None
    for llm in resolved.llms:
        if llm.provider not in _HAVE_IT:
            raise refusal(400, f"{llm.provider} has no moderation endpoint. {hint}", path=_MODEL)
    return resolved


async def _moderate(
    context: RequestContext,
    resolved: ResolvedModel,
    llm: abstractcore.LLM,
    data: Mapping[str, Any],
    given: ModerationInput,
) -> WireResponse:
    """Returns the response of one model."""
    messages = tuple(map(Message.user, given.texts or (_MODERATE,)))  # a call has a message; images have no text
    call = ModelCall(llm.model, messages, llm.provider, tags=context.grant.tags)
    receipt, name = context.entry.receipt, f"{llm.provider}/{llm.model}"
    relay = Relay(receipt.request, data, operation=_MODERATE)
    relay.begin()
    receipt.add(name, relay)
    large = is_large(receipt.request)
    async with context.account(call, large=large) as account:
        guarding = Guarding.of(context, call, resolved.names[0], _MODERATE)
        body = await context.off_loop(large, _request_of, receipt.request, data, llm.model)
        if guarding is not None and guarding.of_calls:
            call = await guarding.call(call, accepted_texts)
            body = await context.off_loop(large, _guarded_body, given, call, data, llm.model) or body
        spending = account.spending = Spending(call, llm)
        try:
            texts = tuple(message.text for message in call.messages) if given.texts else ()
            sent = ModerationBody(body, texts, model=llm.model, provider=llm.provider, tags=call.tags)
            operation = _operation(is_free=llm.provider in _OPENAI)
            async with in_member_time(resolved):
                result = spending.result = await llm.aoperate_call(operation, sent, timeout=timeout_of(context))
        except Exception:
            relay.fail()
            raise
    headers = {"content-type": "application/json", "x-abstractcore-model": name}
    if result.cost is not None:
        headers["x-abstractcore-cost"] = f"{result.cost:f}"
    if guarding is not None and guarding.warnings:
        headers["x-abstractcore-warnings"] = str(len(guarding.warnings))
    headers[RECEIPT_HEADER] = await context.off_loop(large, _receipt, receipt, result.value)
    return WireResponse(200, context.headers(headers), result.value)


def _receipt(receipt: Receipt, reply: bytes) -> str:
    return receipt.header(digest_of(reply))


def _request_of(body: bytes, data: Mapping[str, Any], model: str) -> bytes:
    """Returns the client's body with the vendor's name of the model, and otherwise untouched where that is possible."""
    is_default = _MODEL not in data and model == _DEFAULT
    return with_text(body, (_MODEL,), None if is_default else model) or to_json({**data, _MODEL: model})


def _guarded_body(given: ModerationInput, call: ModelCall, data: Mapping[str, Any], model: str) -> bytes | None:
    """Returns a body with what guards have left of the input; None if they have seen all texts, and changed nothing."""
    texts = tuple(message.text for message in call.messages) if given.texts else ()
    shown = given.with_texts(texts)
    if texts == given.texts and {*texts_in({**data, _MODEL: None})} == {*texts_in(shown)}:
        return None
    return to_json({"input": shown, _MODEL: model})


@dataclass(frozen=True, slots=True)
class ModerationBody(OperationInput):
    """The body of a moderation, and the texts in it."""

    body: bytes
    texts: tuple[str, ...]

    def for_record(self) -> ModerationBody:
        """Returns the input without its body, which may have images."""
        return self.with_(body=b"")


def _operation(*, is_free: bool) -> Operation[ModerationBody, bytes]:
    """Returns the operation whose result is the body of the response. No vendor reports tokens in it."""
    return Operation(_MODERATE, ModerationBody, _encode, _body, is_free=is_free)


def _encode(given: ModerationBody) -> Encoded:
    return Encoded(WireRequest("/moderations", {"content-type": "application/json"}, given.body))


def _body(response: WireResponse, given: ModerationBody) -> bytes:
    """Returns the body of a response; raises `ServerError` unless it is a JSON object."""
    try:
        is_object = isinstance(jiter.from_json(response.body), dict)
    except ValueError:
        is_object = False
    if not is_object:
        raise ServerError("the response to a moderation is not a JSON object")
    return response.body


Part: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModerationInput:
    """A text, a list of texts, or a list of objects of text and image_url
    (https://platform.openai.com/docs/api-reference/moderations). `texts` are those of it that are not empty.
    """

    given: str | Sequence[str] | Sequence[Part]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, given: object) -> ModerationInput:
        """Returns the input of a request; raises `InvalidInputError` for what the API has no word for."""
        if isinstance(given, str):
            return cls(given, (given,) if given else ())
        if isinstance(given, list) and given:
            items = cast("list[Any]", given)
            if all(isinstance(item, str) for item in items):
                return cls(items, tuple(filter(None, items)))
            if all(isinstance(item, dict) for item in items):
                return cls(items, tuple(text for item in items if (text := _text(item))))
        raise InvalidInputError(
            "expected a text, a list of texts, or a list of objects of text and image_url", path="input"
        )

    def with_texts(self, texts: Sequence[str]) -> object:
        """Returns the input with other texts, and with nothing of objects but type, text and the URL of an
        image.
        """
        left = iter(texts)
        if isinstance(self.given, str):
            return next(left, "")
        return [_item(item, left) for item in self.given]


def _item(item: str | Part, texts: Iterator[str]) -> object:
    if isinstance(item, str):
        return next(texts) if item else ""
    return _part(item, next(texts) if _text(item) else "")


def _text(part: Part) -> str:
    text = part.get("text")
    return text if isinstance(text, str) else ""


def _part(part: Part, text: str) -> dict[str, Any]:
    image = part.get("image_url")
    url = cast("Part", image).get("url") if isinstance(image, dict) else None
    return {
        **({"type": part["type"]} if isinstance(part.get("type"), str) else {}),
        **({"text": text} if isinstance(part.get("text"), str) else {}),
        **({"image_url": {"url": url}} if isinstance(url, str) else {}),
    }
