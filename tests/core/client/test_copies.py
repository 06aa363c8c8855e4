"""`copy` and `pickle` of public objects: copies work as the original does, or the error says what to do instead."""

import copy
import inspect
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, get_origin

import pytest

import abstractcore
from abstracta2a import A2AAgent
from abstractcore import (
    LLM,
    Allow,
    ApprovalRule,
    ApprovalRules,
    ConfigurationError,
    Decision,
    Deny,
    Edit,
    Embeddings,
    File,
    FileJournal,
    GenerateResponse,
    InvalidInputError,
    MapResults,
    Member,
    MemberFailure,
    ModelReply,
    NearVector,
    Price,
    ProviderState,
    Ranked,
    RankedDocument,
    Respond,
    Routing,
    Score,
    ServerError,
    Services,
    SimilarPair,
    Stream,
    Suspend,
    TextPart,
    Tool,
    ToolOutput,
    ToolPolicy,
    Usage,
    create_llm,
    record,
    schema,
    tool,
)
from abstractcore.client.stored_files import StoredFiles
from abstractcore.copying import NotCopied
from abstractcore_providers.vendors.google import CachedContents
from tests.providers.sessions import headers

KEY = "sk-0123456789abcdef0123456789"
WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
}


@tool
def forecast(town: str) -> str:
    """Returns the weather."""
    return f"rain in {town}"


class Shop:
    @tool
    def buy(self, what: str) -> str:
        """Buys something."""
        return what


def weather(town: str) -> str:
    """Returns the weather."""
    return f"sun in {town}"


def scripted(**options: Any) -> LLM:
    return create_llm("scripted", replies=["one", "two"], temperature=0.5, **options)


def response() -> GenerateResponse[Any]:
    reply = ModelReply((TextPart("yes"),))
    return GenerateResponse(reply, "yes", (reply,), (), Usage(), (), (), "p", "m", None, "t", 0.5)


def vectors() -> Embeddings:
    return Embeddings(schema.Vectors.of([[0.5, 1.0]]), "p", "m", True)


def same_facade(name: str) -> Callable[[], Any]:
    return lambda: getattr(scripted(), name)


MADE: dict[str, Callable[[], Any]] = {
    "LLM": scripted,
    "Audio": same_facade("audio"),
    "Music": same_facade("music"),
    "Vision": same_facade("vision"),
    "Voice": same_facade("voice"),
    "Allow": Allow,
    "Deny": lambda: Deny("no"),
    "Edit": lambda: Edit({"a": 1}),
    "Respond": lambda: Respond({"a": 1}, None),
    "Suspend": Suspend,
    "ApprovalRule": lambda: ApprovalRule("a*", "allow"),
    "ApprovalRules": lambda: ApprovalRules([ApprovalRule("a*", "allow")]),
    "Decision": lambda: Decision("yes", 0.5, response(), {"yes": 0.5}),
    "Score": lambda: Score(3, 2.5, response()),
    "Embeddings": vectors,
    "MapResults": lambda: MapResults((response(), ServerError("down"))),
    "NearVector": lambda: NearVector(1, 0.5),
    "Ranked": lambda: Ranked((RankedDocument(1, 0.5, "a"),), "p", "m", "model"),
    "RankedDocument": lambda: RankedDocument(1, 0.5, "a"),
    "SimilarPair": lambda: SimilarPair(0, 1, 0.5),
    "File": lambda: File("a.pdf", pages="1-3"),
    "FileJournal": lambda: FileJournal("a.jsonl"),
    "Member": lambda: Member("openai/gpt-5.4", base_url="http://localhost"),
    "MemberFailure": lambda: MemberFailure("openai/gpt-5.4", ServerError("down")),
    "Price": lambda: Price(1, 2),
    "ProviderState": lambda: ProviderState("local", "small models", False, False, None),
    "Routing": lambda: Routing(order="spread", fall_back_on=["refusal"]),
    "Tool": lambda: tool(weather),
    "ToolOutput": lambda: ToolOutput("text", data={"a": 1}),
    "ToolPolicy": lambda: ToolPolicy(max_rounds=3),
    "CachedContents": lambda: CachedContents(create_llm("google", "gemini-2.5-flash")),
}
"""Objects of the public classes that can be copied, but for records, which tests of the schema have, and errors."""
OTHERS = {"CachedContents": CachedContents, "A2AAgent": A2AAgent, "StoredFiles": StoredFiles}
"""Public classes beside those of `abstractcore` that hold an LLM or connections."""


def public_classes() -> dict[str, type]:
    found = {name: getattr(abstractcore, name) for name in abstractcore.__all__} | OTHERS
    return {
        name: each
        for name, each in found.items()
        if inspect.isclass(each) and get_origin(each) is None and each.__module__ != "builtins"
    }


def is_plain(cls: type) -> bool:
    """Whether it is a record of the schema, an error, or the type of a mapping."""
    return cls.__name__ in schema.__all__ or issubclass(cls, BaseException) or issubclass(cls, dict)


CLASSES = {name: cls for name, cls in public_classes().items() if not is_plain(cls)}


@pytest.mark.parametrize("name", sorted(CLASSES))
@pytest.mark.parametrize("way", WAYS)
def test_public_objects_are_copied_or_refuse_in_words(way: str, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    cls = CLASSES[name]
    if name in MADE:
        made = MADE[name]()
        assert isinstance(WAYS[way](made), cls)
        return
    assert issubclass(cls, NotCopied), f"{name} is neither copied nor refused: add it to MADE, or make it NotCopied"
    double = type(name, (cls,), {"__init__": lambda self: None, "__del__": lambda self: None})()
    with pytest.raises(InvalidInputError, match=f"{name} objects are neither copied nor pickled") as raised:
        WAYS[way](double)
    assert raised.value.hint


def test_the_walk_covers_all_classes_of_both_kinds():
    refusing = {name for name, cls in CLASSES.items() if issubclass(cls, NotCopied)}
    assert refusing.isdisjoint(MADE)
    assert refusing | MADE.keys() == CLASSES.keys()
    assert (len(MADE), len(refusing)) == (31, 20)


@pytest.mark.parametrize("way", WAYS)
def test_copied_llm_makes_calls_of_its_own_with_the_same_options(way: str):
    first = scripted()
    assert first.generate("hi").content == "one"
    again: LLM = WAYS[way](first)
    assert again is not first
    assert again.generate("hi").content == "one"
    assert again.calls[0].sampling.temperature == 0.5
    assert len(first.calls) == 1
    again.close()
    assert first.generate("hi").content == "two"


@pytest.mark.parametrize("way", WAYS)
def test_closed_llm_is_not_copied(way: str):
    llm = scripted()
    llm.close()
    with pytest.raises(ConfigurationError, match="closed"):
        WAYS[way](llm)


@pytest.mark.parametrize("way", ["copy", "deepcopy"])
def test_copy_in_this_process_keeps_services_key_and_middleware(way: str):
    class Notes:
        async def around_call(self, context: Any, next: Any) -> Any:
            seen.append(context.call.model)
            return await next(context)

    seen: list[str] = []
    services = Services(environment={})
    llm = create_llm("scripted", replies=["one"], services=services, middleware=[Notes()], api_key=KEY)
    again: LLM = WAYS[way](llm)
    assert again.generate("hi").content == "one"
    assert seen == ["scripted"]
    assert again._pipelines.services is services


def test_pickle_of_an_llm_with_a_key_from_the_environment_has_no_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    pickled = pickle.dumps(create_llm("openai", "gpt-5.4", temperature=0.5))
    assert KEY.encode() not in pickled
    again: LLM = pickle.loads(pickled)
    assert (again.provider, again.model) == ("openai", "gpt-5.4")
    assert headers(again._pipelines.session)["authorization"] == f"Bearer {KEY}"


def unpicklable_function() -> Any:
    return lambda: "token"


class Unpicklable:
    def __init__(self) -> None:
        self.function = unpicklable_function()

    async def around_call(self, context: Any, next: Any) -> Any:
        return await next(context)


class Picklable:
    async def around_call(self, context: Any, next: Any) -> Any:
        return await next(context)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("api_key", {"api_key": KEY}, "credential"),
    ("headers", {"headers": {"Authorization": f"Bearer {KEY}"}}, "credential"),
    ("proxy", {"proxy": f"http://user:{KEY}@proxy.test:3128"}, "credential"),
    ("voice_api_key", {"voice_api_key": KEY}, "credential"),
    ("middleware[1]", {"middleware": [Picklable(), Unpicklable()]}, "cannot be pickled"),
    ("middleware[0]", {"middleware": [record("cassette.jsonl")]}, "Recording objects"),
    ("services", {"services": Services(environment={"OPENAI_API_KEY": KEY})}, "services of its own"),
    ("vision_model", {"vision_model": create_llm("openai", "m", api_key=KEY)}, "api_key"),
]


@pytest.mark.parametrize(("path", "options", "why"), REFUSED, ids=[path for path, _, _ in REFUSED])
def test_pickle_is_refused_by_the_name_of_the_argument(
    path: str, options: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    llm = create_llm("openai", "gpt-5.4", **options)
    with pytest.raises(InvalidInputError, match=why) as raised:
        pickle.dumps(llm)
    assert raised.value.path == path
    assert raised.value.hint
    assert KEY not in str(raised.value)


def test_llm_with_picklable_middleware_is_pickled():
    again: LLM = pickle.loads(pickle.dumps(scripted(middleware=[Picklable()])))
    assert again.generate("hi").content == "one"


def test_decorated_functions_and_methods_are_pickled_by_name():
    assert pickle.loads(pickle.dumps([forecast, Shop.buy])) == [forecast, Shop.buy]
    assert pickle.loads(pickle.dumps(forecast)) is forecast
    used = tool(weather, name="other")
    assert used.spec.name == "other"
    again: Tool[..., str] = pickle.loads(pickle.dumps(used))
    assert (again.spec, again("Ulm")) == (used.spec, "sun in Ulm")


def test_real_streams_refuse_to_be_copied():
    stream: Stream[None] = scripted().stream("hi")
    with pytest.raises(InvalidInputError, match=r"pass on `stream\.response`"):
        copy.copy(stream)
    assert "".join(stream.text()) == "one"


def answered(llm: LLM) -> tuple[str, str]:
    return llm.generate("hi").content, multiprocessing.current_process().name


@pytest.mark.process
def test_spawned_process_calls_the_model():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        text, process = pool.submit(answered, scripted()).result()
    assert text == "one"
    assert process != multiprocessing.current_process().name
