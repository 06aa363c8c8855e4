"""The operation `list_models`: a page of the list of a provider's models, in the forms of several vendors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from abstractcore.errors import InvalidInputError, ProviderError, ServerError
from abstractcore.ports import Operation
from abstractcore.schema import EMPTY, Encoded, ModelList, ModelListInput, Usage, WireRequest, WireResponse, to_data
from abstractcore.schema.base_error import shown

from .json_reading import Object, as_object, as_objects, text_of
from .response_bodies import fitting, read_body

LIST_MODELS: Final = "list_models"


@dataclass(frozen=True, slots=True)
class ModelListing:
    """Where a format lists models: `GET path`, with the parameters `query`, and `after` for a further page.

    `prefix` is left out of the ids; `headers` are sent. `error_in` reads the error of a body, `hint` describes a
    correct base URL.
    """

    path: str
    error_in: Callable[[Object], ProviderError | None]
    hint: str
    query: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    after: str = ""
    prefix: str = ""
    headers: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    @property
    def operation(self) -> Operation[ModelListInput, ModelList]:
        """The operation, which is free of charge."""
        return Operation(
            LIST_MODELS,
            ModelListInput,
            self._encode,
            lambda response, given: self._read(response),
            usage=lambda page: Usage(0, 0),
            to_record=to_data,
            is_free=True,
        )

    def _encode(self, given: ModelListInput) -> Encoded:
        """Returns the request for a page; raises `InvalidInputError` for a further one of a list that has only one."""
        if given.after is not None and not self.after:
            raise InvalidInputError(f"expected the `next` of a page, got {shown(given.after)}", path="arguments.after")
        query = {**self.query, **({self.after: given.after} if given.after else {})}
        path = f"{self.path}?{urlencode(query)}" if query else self.path
        return Encoded(WireRequest(path, self.headers, b"", "GET"))

    def _read(self, response: WireResponse) -> ModelList:
        """Reads a page: a list, or an object with one, of objects with an id; raises `ServerError` for another body."""
        data = read_body(response, self.hint)
        page: Object = {"data": data} if isinstance(data, list) else as_object(data)
        listed: Any = page.get("data", page.get("models"))
        if not isinstance(listed, list):
            raise self.error_in(page) or ServerError("the response has no models", status=response.status)
        names = [text_of(model, "id") or text_of(model, "name") for model in as_objects(listed)]
        ids = tuple(name.removeprefix(self.prefix) for name in names if name)
        return fitting(response, ModelList, ids, _next(page) if self.after else None)


def _next(data: Object) -> str | None:
    """Returns where the next page begins: Google's and Cohere's token, or Anthropic's last id."""
    token = text_of(data, "nextPageToken") or text_of(data, "next_page_token")
    return token or (text_of(data, "last_id") if data.get("has_more") is True else None)
