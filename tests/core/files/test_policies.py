"""Media policies that name a fallback: which one is used, and what is reported of it."""

from __future__ import annotations

import pytest

from abstractcore import CallRecord, InvalidInputError, MediaLoss, Services, UnsupportedContentError, Usage, create_llm
from abstractcore.ports import Conversion, Fallback
from tests.media_doubles import PICTURE, SOUND, Handler, registry

TEXT = frozenset({"text"})
CAPTION = Fallback("caption", TEXT, needs="transcription_model")  # an option that exists, with another meaning
WORDS, FACTS = Fallback("ocr", TEXT), Fallback("observe", TEXT)
LOST = (MediaLoss("regions", 2, 5, ("top left", "the signature")),)


class Pictures(Handler):
    """Pictures that have no words: of the fallbacks that it may use, `ocr` finds nothing."""

    def convert(self, part, context) -> Conversion:
        used = next(name for name in context.fallbacks if name != "ocr")
        return Conversion(f"by {used}", "notes", Usage(3, 4), fallback=used, model="eye-1", lost=LOST)


@pytest.fixture
def services():
    """Services with a handler of pictures that has three fallbacks."""
    pictures = Pictures("pictures", "image", b"PICTURE", "image/png", (CAPTION, WORDS, FACTS))
    services = Services(registry=registry(pictures), environment={})
    yield services
    services.close()


@pytest.fixture
def make(services: Services):
    """Creates an LLM of a scripted model."""
    return lambda *accepts, **options: create_llm(
        "scripted", replies=["a"] * 3, accepts=list(accepts), services=services, **options
    )


def test_first_fallback_that_makes_something_of_the_file_is_reported(call_style, make):
    llm = make()
    (planned,) = llm.plan("hi", media=[PICTURE])
    assert (planned.route, planned.fallback, planned.alternatives) == ("fallback", "ocr", ("observe",))
    (decision,) = call_style.generate(llm, "hi", media=[PICTURE]).media
    assert (decision.fallback, decision.alternatives, decision.policy) == ("observe", (), "auto")
    assert (decision.model, decision.lost) == ("eye-1", LOST)
    assert decision.seconds is not None


def test_fallback_that_needs_an_option_is_used_where_it_is_set(make):
    (decision,) = make(transcription_model="eye-1").generate("hi", media=[PICTURE]).media
    assert decision.fallback == "caption"


def test_policy_that_names_a_fallback_holds_also_for_a_model_that_accepts_the_file(call_style, make):
    llm = make("image")
    assert llm.plan("hi", media=[PICTURE])[0].route == "native"
    (decision,) = call_style.generate(llm, "hi", media=[PICTURE], media_policy={"image": "observe"}).media
    assert (decision.route, decision.fallback, decision.policy) == ("fallback", "observe", "observe")
    assert "the policy is 'observe'" in decision.reason


def test_fallback_that_lacks_its_option_is_refused_with_what_to_set(make):
    llm = make()
    with pytest.raises(UnsupportedContentError, match="the fallback 'caption' needs transcription_model=") as caught:
        llm.generate("hi", media=[PICTURE], media_policy={"image": "caption"})
    assert "set transcription_model=..." in str(caught.value.hint)
    assert not list(llm.calls)


def test_fallback_of_another_kind_of_file_is_refused(make):
    with pytest.raises(UnsupportedContentError, match="the sound handler has no fallback of this name"):
        make().generate("hi", media=[SOUND], media_policy={"audio": "ocr"})


@pytest.mark.parametrize("where", ["create_llm", "generate"])
def test_unknown_policy_is_refused_with_the_known_ones(make, where: str):
    policy = {"image": "orc"}
    with pytest.raises(InvalidInputError, match=r"unknown policy 'orc': use native, .*caption, ocr, observe") as caught:
        make(media_policy=policy) if where == "create_llm" else make().generate("hi", media_policy=policy)
    assert caught.value.path == "media_policy.image"


def test_fallback_for_all_kinds_of_files_is_refused(make):
    with pytest.raises(InvalidInputError, match="for all kinds") as caught:
        make().generate("hi", media_policy="ocr")
    assert "media_policy={'image': 'ocr'}" in str(caught.value.hint)


def test_places_that_were_lost_are_not_in_records_without_content(make, services: Services):
    records: list[CallRecord] = []
    with services.records.subscribe(records.append, "off"):
        make().generate("hi", media=[PICTURE])
    assert records[0].media[0].lost == (MediaLoss("regions", 2, 5),)
