"""The option `vision_model`: images are described by another model, for one that accepts none."""

from __future__ import annotations

import os
from threading import Event, Thread

import pytest

from abstractcore import (
    CallRecord,
    ImagePart,
    InvalidInputError,
    Price,
    RateLimitError,
    Services,
    UnsupportedContentError,
    create_llm,
)
from abstractcore.client.auxiliary_models import AuxiliaryModel
from abstractcore.ports import Conversion, Fallback
from tests.chaos_server import PATIENCE_SECONDS
from tests.forks import in_fork
from tests.media_doubles import PICTURE, Handler, registry

CAPTION = Fallback("caption", frozenset({"text"}), needs="vision_model")


class Pictures(Handler):
    """Pictures that a vision model describes."""

    def convert(self, part, context) -> Conversion:
        assert isinstance(part, ImagePart)
        caption = context.caption([part], f"Describe it for the question: {context.question}")
        return Conversion(caption.text, "caption", caption.usage, model=caption.model)


@pytest.fixture
def services():
    services = Services(
        registry=registry(Pictures("pictures", "image", b"PICTURE", "image/png", (CAPTION,))), environment={}
    )
    yield services
    services.close()


@pytest.fixture
def eye(services: Services):
    return create_llm("scripted", model="eye", replies=["A red barn."] * 5, accepts=["image"], services=services)


def test_image_is_described_by_the_vision_model(call_style, services: Services, eye):
    llm = create_llm("scripted", replies=["Red."], vision_model=eye, services=services)
    response = call_style.generate(llm, "Which colour?", media=[PICTURE])
    (decision,) = response.media
    assert (decision.fallback, decision.model) == ("caption", "scripted/eye")
    assert decision.sent is not None
    assert decision.sent.text == "A red barn."
    assert decision.usage is not None
    (asked,) = eye.calls
    assert asked.messages[-1].text == "Describe it for the question: Which colour?"
    assert asked.messages[-1].parts[0].blob.read() == PICTURE
    assert "A red barn." in llm.calls[0].messages[-1].text


def test_vision_model_that_is_named_must_accept_images(call_style, services: Services):
    llm = create_llm("scripted", replies=["Red."], vision_model="scripted/eye", services=services)
    with pytest.raises(UnsupportedContentError, match="eye does not accept image/png"):
        call_style.generate(llm, "Which colour?", media=[PICTURE])
    assert not list(llm.calls)


def test_record_of_a_caption_names_the_call_that_needed_it(services: Services, eye):
    records: list[CallRecord] = []
    llm = create_llm("scripted", replies=["Red."], vision_model=eye, services=services)
    with services.records.subscribe(records.append, "off"):
        response = llm.generate("Which colour?", media=[PICTURE])
    caption, call = records
    assert (caption.parent_id, call.trace_id) == (response.trace_id, response.trace_id)


def test_cost_of_a_caption_is_part_of_the_cost_of_the_call(services: Services):
    options = {"services": services, "price": Price(input=1, output=2)}
    eye = create_llm("scripted", replies=["A red barn."], accepts=["image"], **options)
    llm = create_llm("scripted", replies=["Red."], vision_model=eye, **options)
    described = llm.generate("Which colour?", media=[PICTURE])
    conversion = described.media[0].usage
    assert conversion is not None
    assert conversion.billing is not None
    assert described.cost is not None
    assert conversion.billing.cost is not None
    assert described.cost > conversion.billing.cost > 0


def test_failure_of_the_vision_model_is_that_of_the_call(call_style, services: Services):
    eye = create_llm(
        "scripted", replies=[RateLimitError("too often")], accepts=["image"], max_retries=0, services=services
    )
    llm = create_llm("scripted", replies=["Red."], vision_model=eye, services=services)
    with pytest.raises(RateLimitError, match="too often"):
        call_style.generate(llm, "Which colour?", media=[PICTURE])
    assert not list(llm.calls)


def test_vision_model_is_checked(services: Services):
    with pytest.raises(InvalidInputError, match="expected an LLM or the name of a model, got int"):
        create_llm("scripted", vision_model=3, services=services)


@pytest.mark.process
def test_forked_process_creates_the_model_that_another_thread_was_creating(eye):
    begun, forked = Event(), Event()
    parent = os.getpid()

    def create(name: str):
        if os.getpid() == parent:
            begun.set()
            assert forked.wait(PATIENCE_SECONDS)
        return eye

    model = AuxiliaryModel("scripted/eye", create)
    creator = Thread(target=model.llm)
    creator.start()
    assert begun.wait(PATIENCE_SECONDS)
    in_fork(model.llm)
    forked.set()
    creator.join()
