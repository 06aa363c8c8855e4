"""Sums over records are what was spent: each call of a model is in one record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pytest

from abstractcore import (
    Blob,
    Budget,
    CallRecord,
    GenerateResponse,
    ImagePart,
    MediaKind,
    MediaPart,
    Price,
    Services,
    Usage,
    context,
    create_llm,
)
from abstractcore.ports import Conversion, Fallback, MediaContext, Recognised
from abstractcore.schema import Billing
from abstractcore.testing import CallStyle
from tests.media_doubles import registry

PICTURE = b"SEEN" + bytes(20)
PRICE = Price(input=1, output=2)
OWN = Usage(10, 5, billing=Billing(cost=Decimal("0.5")))


@dataclass
class Described:
    """Files that begin with `magic`, described by a vision model, or by a model that only the handler knows."""

    name: str
    magic: bytes
    kind: MediaKind
    media_type: str
    fallbacks: Sequence[Fallback]

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        ours = head.startswith(self.magic) if declared is None else declared == self.media_type
        return Recognised(self.kind, self.media_type) if ours else None

    def check(self, part: MediaPart) -> None:
        pass

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        if isinstance(part, ImagePart):
            caption = context.caption([part], "What does it show?")
            return Conversion(caption.text, "caption", caption.usage, model=caption.model)
        if context.to_text is not None and b"with a picture" in part.blob.read():
            return context.to_text(ImagePart(Blob.from_bytes(PICTURE, "image/png")))
        return Conversion("A report.", "summary", OWN)


CAPTION = Fallback("caption", frozenset({"text"}), needs="vision_model")
TEXT = Fallback("text", frozenset({"text"}))


@pytest.fixture
def services() -> Iterator[Services]:
    pictures = Described("seen", b"SEEN", "image", "image/png", (CAPTION,))
    reports = Described("reports", b"REPORT", "document", "application/x-report", (TEXT,))
    services = Services(registry=registry(pictures, reports), environment={})
    yield services
    services.close()


def spent(responses: Sequence[GenerateResponse[object]]) -> tuple[Decimal, int]:
    return sum((each.cost or Decimal(0) for each in responses), Decimal(0)), sum(
        (each.usage or Usage()).output or 0 for each in responses
    )


def recorded(records: Sequence[CallRecord]) -> tuple[Decimal, int]:
    return sum((each.cost or Decimal(0) for each in records), Decimal(0)), sum(
        each.usage.output or 0 for each in records
    )


@pytest.mark.parametrize("file", [PICTURE, b"REPORT with a picture"])
def test_caption_is_counted_in_its_own_record(call_style: CallStyle, services: Services, file: bytes):
    eye = create_llm("scripted", replies=["A red barn."], accepts=["image"], services=services, price=PRICE)
    llm = create_llm("scripted", replies=["Red.", "Red."], vision_model=eye, services=services, price=PRICE)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append, "off"), context(tags={"team": "office"}):
        responses = [call_style.generate(llm, "Which colour?", media=[file]) for _ in range(2)]
    first, again = responses
    assert [record.parent_id for record in records] == [first.trace_id, None, None]
    assert [record.tags for record in records] == [{"team": "office"}] * 3
    assert recorded(records) == spent(responses)
    assert first.cost is not None
    assert records[1].cost is not None
    assert first.cost > records[1].cost > 0, "the response has the cost of the caption too"
    assert again.cost == records[2].cost, "the second call uses the caption that was kept"


def test_conversion_without_a_record_of_its_own_is_counted_in_that_of_the_call(
    call_style: CallStyle, services: Services
):
    budget = Budget(100)
    llm = create_llm("scripted", replies=["Fine."], services=services, price=PRICE, budgets=[budget])
    records: list[CallRecord] = []
    with services.records.subscribe(records.append, "off"):
        response = call_style.generate(llm, "How is it?", media=[b"REPORT without pictures"])
    (record,) = records
    assert record.cost == response.cost == budget.state().spent
    assert record.cost is not None
    assert record.cost > Decimal("0.5")
    assert record.usage.output == 5 + 1
