"""Files of earlier turns become text, where `media_history` says so; those of the current turn stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from abstractcore import (
    AudioPart,
    Blob,
    ConfigurationError,
    DocumentPart,
    ImagePart,
    InvalidInputError,
    MediaError,
    Message,
    ModelCall,
    Services,
    TextPart,
    ToolCall,
    ToolResult,
    create_llm,
    tool,
)
from abstractcore.files.parts import turn_start
from abstractcore.ports import Caption, Conversion, Fallback, Piece
from abstractcore.schema import canonical_json, from_json, to_json
from abstractcore.testing import ScriptedReply
from tests.media_doubles import Handler, registry

TEXT = frozenset({"text"})
WORDS = (Fallback("caption", TEXT, needs="vision_model"), Fallback("ocr", TEXT), Fallback("observe", TEXT))
PAGES = (Fallback("pages", frozenset({"image/png"})), Fallback("text", TEXT))
ACCEPTS = ["image", "audio", "application/pdf"]


class Pictures(Handler):
    """Pictures that are converted by the first fallback; counts what it does."""

    count = 0

    def convert(self, part, context) -> Conversion:
        self.count += 1
        name = context.fallbacks[0]
        if name == "caption":
            caption: Caption = context.caption([part], context.question)
            return Conversion(caption.text, "caption", caption.usage, fallback=name, model=caption.model)
        if b"MUTE" in part.blob.read():
            raise MediaError("it has no text.", source="")
        return Conversion("TOTAL 9.50", "text read by OCR", fallback=name)


class Papers(Handler):
    def convert(self, part, context) -> Conversion:
        if "image/png" in context.accepted_outputs:
            return Conversion(["[page 1]\n", picture(b"page")], "pages", fallback="pages")
        return Conversion("Rent is due.", "text", fallback="text")


def picture(content: bytes = b"1") -> ImagePart:
    return ImagePart(Blob.from_bytes(b"PICTURE " + content, "image/png", name="receipt.png"))


def sound() -> AudioPart:
    return AudioPart(Blob.from_bytes(b"SOUND hum", "audio/wav", name="hum.wav"))


def paper() -> DocumentPart:
    return DocumentPart(Blob.from_bytes(b"PAPER", "application/pdf", name="rent.pdf"))


@pytest.fixture
def pictures() -> Pictures:
    return Pictures("pictures", "image", b"PICTURE", "image/png", WORDS)


@pytest.fixture
def make(pictures: Pictures, tmp_path: Path):
    """Creates an LLM that accepts images, sound and PDFs."""
    made: list[Services] = []

    def create(replies=None, config: str = "", services_options=None, accepts=ACCEPTS, **options):
        (tmp_path / "config.toml").write_text(config)
        handlers = registry(
            pictures,
            Papers("papers", "document", b"PAPER", "application/pdf", PAGES),
            Handler("mute", "audio", b"SOUND", "audio/wav"),
        )
        environment = {"ABSTRACTCORE_CONFIG": str(tmp_path / "config.toml")}
        made.append(Services(registry=handlers, environment=environment, **services_options or {}))
        replies = ["a"] * 9 if replies is None else replies
        return create_llm("scripted", replies=replies, accepts=accepts, services=made[-1], **options)

    yield create
    for services in made:
        services.close()


def history(*files) -> list[Message]:
    return [Message.user(*files, "What was paid?"), Message.assistant("9.50")]


def images(call: ModelCall) -> int:
    return sum(isinstance(part, ImagePart) for message in call.messages for part in message.parts)


def test_image_of_an_earlier_turn_is_text_and_the_new_one_stays(call_style, make):
    llm = make(media_history="text")
    old, new = call_style.generate(llm, "And here?", messages=history(picture()), media=[picture(b"2")]).media
    assert (old.route, old.fallback, old.text_because) == ("fallback", "ocr", "history")
    assert "it is of an earlier turn, and media_history is 'text'" in old.reason
    assert (new.route, new.text_because) == ("native", None)
    assert images(llm.calls[-1]) == 1
    assert llm.calls[-1].messages[0].text == (
        '<untrusted-file name="receipt.png" content="text read by OCR, in place of the file">\n'
        "TOTAL 9.50\n</untrusted-file>\n\nWhat was paid?"
    )


def test_files_are_kept_unless_that_is_asked_for(call_style, make):
    llm = make()
    call_style.generate(llm, "And here?", messages=history(picture(), sound(), paper()))
    assert images(llm.calls[-1]) == 1


def test_pages_of_an_earlier_turn_become_the_text_of_the_document(call_style, make):
    llm = make(accepts=["image"])
    (now,) = call_style.generate(llm, "What is due?", media=[paper()], media_history="text").media
    (then,) = call_style.generate(llm, "And here?", messages=history(paper()), media_history="text").media
    assert (now.fallback, then.fallback, then.outputs) == ("pages", "text", ("text",))
    assert "Rent is due." in llm.calls[-1].messages[0].text


def test_caption_is_made_once_and_for_the_question_of_its_turn(call_style, make):
    eye = make(replies=["a receipt"] * 2, accepts=["image"])
    llm = make(vision_model=eye, media_history={"image": "text"})
    for question in ("And here?", "Sure?"):
        (old,) = call_style.generate(llm, question, messages=history(picture())).media
        assert (old.fallback, old.model is None) == ("caption", False)
    assert len(eye.calls) == 1
    assert "What was paid?" in eye.calls[0].messages[-1].text or eye.calls[0].messages[-1].text == "What was paid?"


def test_policy_names_the_text(make):
    llm = make(media_history="text", media_policy={"image": "observe"})
    with_native = make(media_history="text", media_policy={"image": "native"})
    assert llm.plan("hi", messages=history(picture()))[0].fallback == "observe"
    old, new = with_native.plan("hi", messages=history(picture()), media=[picture(b"2")])
    assert (old.fallback, new.route) == ("ocr", "native")


def test_plan_shows_it_with_the_tokens_of_what_was_converted_before(make):
    llm = make(media_history="text")
    plan = llm.plan("hi", messages=history(picture()), media=[picture(b"2")])
    assert [(each.route, each.text_because) for each in plan] == [("fallback", "history"), ("native", None)]
    assert plan[0].tokens is None
    tokens = llm.generate("hi", messages=history(picture())).media[0].tokens
    assert tokens is not None
    assert llm.plan("hi", messages=history(picture()))[0].tokens == tokens


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (sound(), "nothing here converts it to text"),
        (picture(b"MUTE"), "it has no text"),
        (ImagePart(Blob.from_url("gs://bucket/photo.png", "image/png")), "nothing here converts it to text"),
        (ImagePart(Blob.from_provider_file("scripted", "file-1", "image/png")), "nothing here converts it to text"),
    ],
    ids=["without a fallback", "without text", "at a URL that is not downloaded", "at the provider"],
)
def test_file_that_cannot_be_text_stays(call_style, make, part, why: str):
    llm = make(media_history="text")
    (old,) = call_style.generate(llm, "And?", messages=history(part)).media
    assert (old.route, old.text_because) == ("native", None)
    assert f"it is of an earlier turn, and stays although media_history is 'text': {why}" in old.reason
    assert llm.calls[-1].messages[0].parts[0].type == part.type


def test_files_of_the_rounds_of_a_turn_stay(call_style, make):
    @tool
    def look() -> list:
        """Looks at it."""
        return [picture(b"3")]

    again = ScriptedReply((Piece(ToolCall("1", "look")),), finish_reason="tool_calls")
    llm = make([again, "done", "a"], media_history="text")
    response = call_style.generate(llm, "hi", media=[picture()], tools=[look], run_tools=True)
    assert [each.route for each in response.media] == ["native", "native"]
    call_style.generate(llm, "And?", messages=[*llm.calls[-1].messages, response])
    parts = [part for message in llm.calls[-1].messages for part in message.parts]
    results = [part for part in parts if isinstance(part, ToolResult)]
    assert [type(part) for part in results[0].content] == [TextPart]
    assert images(llm.calls[-1]) == 0


def test_correction_of_an_answer_begins_no_turn(call_style, make):
    llm = make(["many", "3"], media_history="text")
    response = call_style.generate(llm, "How many?", media=[picture()], response_model=int)
    assert response.output == 3
    assert [images(call) for call in llm.calls] == [1, 1]


def test_file_in_a_message_before_the_prompt_is_of_the_same_turn(make):
    (decision,) = make(media_history="text").plan("What is it?", messages=[Message.user(picture())])
    assert decision.route == "native"


@pytest.mark.parametrize(
    ("roles", "added", "start"),
    [("u", 0, 0), ("uau", 0, 2), ("uauu", 0, 2), ("uauat", 0, 2), ("uauau", 2, 2), ("suau", 0, 3), ("a", 0, 0)],
)
def test_turn_begins_with_the_last_message_of_the_user(roles: str, added: int, start: int):
    call = ToolCall("c", "f")
    made = {
        "u": Message.user("q"),
        "a": Message.assistant("a", call) if "t" in roles else Message.assistant("a"),
        "s": Message.system("s"),
        "t": Message.tool(ToolResult.text("c", "r")),
    }
    assert turn_start(ModelCall("m", tuple(made[role] for role in roles)), added) == start


# Levels


@pytest.mark.parametrize(
    ("config", "services", "created", "called", "route"),
    [
        ('media_history = "text"', {}, {}, {}, "fallback"),
        ('[media_history]\nimage = "text"', {}, {}, {}, "fallback"),
        ('[media_history]\naudio = "text"', {}, {}, {}, "native"),
        ('media_history = "text"', {"media_history": "keep"}, {}, {}, "native"),
        ("", {"media_history": {"image": "text"}}, {}, {}, "fallback"),
        ('media_history = "text"', {}, {"media_history": "keep"}, {}, "native"),
        ("", {}, {"media_history": "keep"}, {"media_history": {"image": "text"}}, "fallback"),
        ("", {}, {"media_history": {"image": "text"}}, {"media_history": {"audio": "keep"}}, "fallback"),
        ('media_history = "text"', {}, {"media_history": "keep"}, {"media_history": None}, "fallback"),
    ],
)
def test_level_that_is_nearest_to_the_call_decides_by_kind(make, config, services, created, called, route: str):
    llm = make(config=config, services_options=services, **created)
    assert llm.plan("hi", messages=history(picture()), **called)[0].route == route


@pytest.mark.parametrize(
    ("given", "path", "message", "hint"),
    [
        ("txt", "media_history", "'txt' is not one of keep, text", "Did you mean text?"),
        ({"image": "keeep"}, "media_history.image", "'keeep' is not one of", "Did you mean keep?"),
        ({"imge": "text"}, "media_history", "unknown kind 'imge'", "Did you mean image?"),
        (True, "media_history", "expected 'keep' or 'text', or a mapping by kind, got bool", "media_history='text'"),
        ({"image": 1}, "media_history.image", "1 is not one of", "keep, text"),
    ],
)
def test_misspelt_value_is_an_error_with_the_nearest_name(make, given, path: str, message: str, hint: str):
    for fails in (
        lambda: make(media_history=given),
        lambda: make().generate("hi", media_history=given),
        lambda: Services(media_history=given),
    ):
        with pytest.raises(InvalidInputError, match=message) as caught:
            fails()
        assert caught.value.path == path
        assert hint in str(caught.value.hint)


def test_misspelt_value_in_the_configuration_is_an_error_with_its_place(make):
    with pytest.raises(
        ConfigurationError, match=r"config\.toml:2:1: media_history\.image: 'txt' is not one of keep, text"
    ):
        make(config='[media_history]\nimage = "txt"')
    with pytest.raises(ConfigurationError, match="Did you mean media_history"):
        make(config='media_histry = "text"')


def test_history_is_part_of_the_call_as_data(make):
    call = make().build("hi", media_history={"image": "text"})
    assert from_json(to_json(call), ModelCall) == call
    assert '"media_history":{"image":"text"}' in canonical_json(call)
    assert "media_history" not in canonical_json(make().build("hi"))
