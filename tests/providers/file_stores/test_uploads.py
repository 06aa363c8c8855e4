"""Files that go to the vendors' stores: once for each content, account and address, and what later calls name."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    AbstractCoreError,
    File,
    InvalidInputError,
    QuotaError,
    Services,
    StorageFullError,
    create_llm,
)
from abstractcore.ports import Fallback
from abstractcore.stores.artifacts import FolderStoredFiles
from abstractcore.testing import VirtualClock
from abstractcore.transport import URLFetcher
from tests.media.test_request_limits import web
from tests.media_doubles import Handler, registry
from tests.providers.file_stores.fakes import STORES, running, sent

PROVIDERS = sorted(STORES)
PDF_BEGIN, PDF_END = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%", b"\ntrailer\n<<>>\nstartxref\n9\n%%EOF\n"
PDF = PDF_BEGIN + PDF_END


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(time_of_day=1_800_000_000.0)


@pytest.fixture
def services(clock) -> Iterator[Services]:
    services = services_with(clock)
    yield services
    services.close()


def services_with(clock, **more: Any) -> Services:
    """Services with a handler of PDFs that opens none."""
    papers = Handler("paper", "document", b"%PDF-", "application/pdf", (Fallback("text", frozenset({"text"})),))
    return Services(environment={}, clock=clock, random=lambda: 0.5, registry=registry(papers), **more)


@pytest.fixture(params=PROVIDERS)
def store(request):
    with running(request.param) as store:
        store.provider = request.param
        yield store


def llm_of(store: Any, services: Services, key: str = "key-1", **options: Any):
    _, model, path = STORES[store.provider]
    url = f"{store.server.url}{path}"
    return create_llm(store.provider, model=model, base_url=url, api_key=key, services=services, **options)


def paper(tmp_path: Path, text: str = "", name: str = "paper.pdf") -> Path:
    path = tmp_path / name
    path.write_bytes(PDF_BEGIN + text.encode() + PDF_END)
    return path


def ask(call_style, llm, *files: Path, **options: Any):
    return call_style.generate(llm, "What is it?", media=list(files), **options)


def chat_bodies(store: Any) -> list[str]:
    ends = ("/responses", "/chat/completions", "/messages", ":generateContent", "/interactions")
    return [request.body.decode() for request in store.server.requests if request.target.endswith(ends)]


def test_file_is_uploaded_once_and_then_named_by_its_id(call_style, store, services, tmp_path):
    llm, path = llm_of(store, services, file_store="always"), paper(tmp_path)
    first, second = ask(call_style, llm, path), ask(call_style, llm, path)
    assert [each.content for each in (first, second)] == ["Read.", "Read."]
    assert [each.media[0].stored for each in (first, second)] == ["uploaded", "reused"]
    assert store.uploads() == 1
    (kept,) = store.files.values()
    assert (kept.data, kept.name, kept.media_type) == (path.read_bytes(), "paper.pdf", "application/pdf")
    assert [kept.id in body for body in chat_bodies(store)] == [True, True]
    assert not any("JVBERi0" in body for body in chat_bodies(store)), "the content is not in the request"


def test_same_content_under_two_names_is_uploaded_once(call_style, store, services, tmp_path):
    llm = llm_of(store, services, file_store="always")
    response = ask(call_style, llm, paper(tmp_path), paper(tmp_path, name="copy.pdf"))
    assert store.uploads() == 1
    assert [decision.stored for decision in response.media] == ["uploaded", "uploaded"]


def test_other_content_another_account_and_another_address_are_uploaded_apart(call_style, services, tmp_path):
    with running("anthropic", "key-1", "key-2") as here, running("anthropic") as there:
        here.provider = there.provider = "anthropic"
        path = paper(tmp_path)
        for llm in (llm_of(here, services), llm_of(here, services, "key-2"), llm_of(there, services)):
            assert ask(call_style, llm, path, file_store="always").media[0].stored == "uploaded"
        assert ask(call_style, llm_of(here, services), path, file_store="always").media[0].stored == "reused"
        ask(call_style, llm_of(here, services), paper(tmp_path, "more"), file_store="always")
        assert (here.uploads(), there.uploads()) == (3, 1)
        assert [kept.owner for kept in here.files.values()] == ["key-1", "key-2", "key-1"]


def test_file_is_part_of_the_request_unless_it_is_too_large_for_it(call_style, store, services, tmp_path):
    llm, path = llm_of(store, services), paper(tmp_path)
    assert ask(call_style, llm, path).media[0].stored is None
    assert store.uploads() == 0


@pytest.mark.process
@pytest.mark.parametrize(
    ("provider", "model", "name", "size", "stored"),
    [
        ("google", "gemini-3.8-flash", "call.wav", 80_000_000, "planned"),
        ("google", "gemini-3.8-flash", "call.wav", 60_000_000, None),
        ("google-interactions", "gemini-3.8-flash", "call.wav", 80_000_000, "planned"),
        ("anthropic", "claude-opus-5-5", "paper.pdf", 30_000_000, "planned"),
        ("anthropic", "claude-opus-5-5", "paper.pdf", 20_000_000, None),
        ("openai-responses", "gpt-5.4", "paper.pdf", 40_000_000, None),
    ],
)
def test_plan_shows_which_files_are_too_large_for_a_request(provider, model, name, size, stored, tmp_path):
    path = tmp_path / name
    if name.endswith(".wav"):
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, 16000, 0, "NONE", "not compressed"))
            file.writeframes(bytes(size))
    else:
        path.write_bytes(PDF_BEGIN + b" " * size + PDF_END)
    llm = create_llm(provider, model=model, api_key="k", services=Services(environment={}))
    (decision,) = llm.plan("What is it?", media=[path])
    assert (decision.route, decision.stored) == ("native", stored)
    assert ("uploaded to the provider's file store" in decision.reason) is (stored is not None)


def test_nothing_is_uploaded_where_the_provider_has_no_store(call_style, server, tmp_path):
    from tests.chaos_server import completion

    server.always(completion("Read."))
    services = Services(environment={}, registry=registry())
    picture = tmp_path / "a.png"
    picture.write_bytes(b"PICTURE")
    llm = create_llm(
        "openai-compatible", model="m", base_url=f"{server.url}/v1", services=services, accepts=["image/png"]
    )
    response = ask(call_style, llm, picture, file_store="always")
    assert response.media[0].stored is None
    assert [(each.code, each.path) for each in response.warnings] == [("no_effect", "file_store")]
    assert [request.target for request in server.requests] == ["/v1/chat/completions"]
    services.close()


@pytest.mark.parametrize("name", ["openai-responses", "anthropic"])
def test_url_that_the_endpoint_reads_is_not_uploaded(call_style, services, name):
    with running(name) as store:
        store.provider = name
        llm = llm_of(store, services, file_store="always")
        (decision,) = call_style.generate(llm, "What is it?", media=["https://example.com/a.pdf"]).media
        assert (decision.route, decision.stored, store.uploads()) == ("native", None, 0)
        assert "https://example.com/a.pdf" in chat_bodies(store)[0]


@pytest.mark.parametrize(
    ("size", "policy", "stored"), [(30_000_000, "auto", True), (0, "always", True), (0, "auto", False)]
)
def test_file_that_is_downloaded_here_is_uploaded_once(call_style, clock, size, policy, stored):
    """Its size is known only then."""
    content = PDF_BEGIN + b" " * size + PDF_END
    services = services_with(clock, fetcher=URLFetcher(allow_private=True))
    with running("anthropic") as store, web({"/a.pdf": content}) as (url, asked):
        store.provider = "anthropic"
        llm = llm_of(store, services, file_store=policy)
        media = [File(f"{url}/a.pdf", fetch="us")]
        found = [call_style.generate(llm, "What is it?", media=media).media[0].stored for _ in range(2)]
        assert found == (["uploaded", "reused"] if stored else [None, None])
        assert [kept.data for kept in store.files.values()] == [content] * stored
        assert asked == ["/a.pdf"] * 2, "once for each call"
    services.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("policy", ["auto", "never"])
def test_video_that_is_larger_than_any_request_is_uploaded_or_refused(services, tmp_path, policy):
    path = tmp_path / "clip.mp4"
    with open(path, "wb") as file:
        file.write(b"VIDEO")
        file.truncate((256 << 20) + 1)
    with running("google") as store:
        store.provider = "google"
        clips = Services(environment={}, registry=registry(Handler("clip", "video", b"VIDEO", "video/mp4")))
        llm = llm_of(store, clips, file_store=policy)
        if policy == "auto":
            assert llm.generate("What is it?", media=[path]).media[0].stored == "uploaded"
            assert [len(kept.data) for kept in store.files.values()] == [path.stat().st_size]
        else:
            with pytest.raises(AbstractCoreError, match=r"clip\.mp4|too large|limit"):
                llm.generate("What is it?", media=[path])
            assert store.server.requests == []
        clips.close()


def test_unknown_policy_is_refused(services):
    with pytest.raises(InvalidInputError, match=r"file_store.*'auto', 'never' or 'always'|file_store"):
        create_llm("scripted", replies=["hi"], services=services, file_store="sometimes")  # type: ignore[arg-type]


def test_upload_is_renewed_an_hour_before_it_expires(call_style, store, services, clock, tmp_path):
    llm, path = llm_of(store, services, file_store="always"), paper(tmp_path)
    ask(call_style, llm, path)
    clock.advance(46 * 3600)
    store.now = clock.time_of_day()
    assert ask(call_style, llm, path).media[0].stored == "reused"
    clock.advance(1.5 * 3600)
    store.now = clock.time_of_day()
    assert ask(call_style, llm, path).media[0].stored == "uploaded"
    assert store.uploads() == 2


@pytest.mark.parametrize("streamed", [False, True])
def test_file_that_the_provider_has_lost_is_uploaded_again_and_the_request_sent_once_more(
    call_style, services, tmp_path, streamed
):
    with running("anthropic") as store:
        store.provider = "anthropic"
        llm, path = llm_of(store, services, file_store="always"), paper(tmp_path)
        ask(call_style, llm, path)
        store.files.clear()
        if streamed:
            with call_style.stream(llm, "What is it?", media=[path]) as stream:
                list(stream)
            response = stream.response
        else:
            response = ask(call_style, llm, path)
        assert (response.content, response.media[0].stored) == ("Read.", "uploaded")
        assert store.uploads() == 2
        assert [file.id for file in llm.files.list()] == [*store.files]


def test_lost_file_is_renewed_at_every_vendor(call_style, store, services, tmp_path):
    llm = llm_of(store, services, file_store="always")
    one, other = paper(tmp_path), paper(tmp_path, "other", "other.pdf")
    ask(call_style, llm, one, other)
    gone = next(id for id, kept in store.files.items() if kept.name == "paper.pdf")
    del store.files[gone]
    store.log.clear()
    response = ask(call_style, llm, one, other)
    assert [decision.stored for decision in response.media] == ["uploaded", "reused"]
    assert sum(line.startswith("GET") for line in store.log) == 2
    assert store.uploads() == 3


def test_not_found_error_of_something_else_uploads_nothing(call_style, store, services, tmp_path):
    from abstractcore import NotFoundError
    from tests.providers.file_stores.fakes import RefusedError

    llm, path = llm_of(store, services, file_store="always"), paper(tmp_path)
    ask(call_style, llm, path)
    store.refusals.append(RefusedError(404, "no such thing", type="not_found_error", status="NOT_FOUND"))
    with pytest.raises(NotFoundError, match="no such thing"):
        ask(call_style, llm, path)
    assert store.uploads() == 1
    assert len(llm.files.list()) == 1


def test_request_is_sent_again_only_once(call_style, store, services, tmp_path, monkeypatch):
    from abstractcore import AccessDeniedError, NotFoundError

    llm, path = llm_of(store, services, file_store="always"), paper(tmp_path)
    keep = store.keep

    def keep_and_lose(kept):
        keep(kept)
        del store.files[kept.id]
        return kept

    monkeypatch.setattr(store, "keep", keep_and_lose)
    with pytest.raises((NotFoundError, AccessDeniedError)):
        ask(call_style, llm, path)
    assert store.uploads() == 2


def test_full_store_loses_the_oldest_of_our_uploads(call_style, store, services, clock, tmp_path):
    llm = llm_of(store, services, file_store="always")
    paths = [paper(tmp_path, str(number), f"{number}.pdf") for number in range(4)]
    for path in paths[:3]:
        ask(call_style, llm, path)
        clock.advance(60)
        store.now = clock.time_of_day()
    theirs = next(iter(store.files.values()))
    store.files["theirs"] = type(theirs)("theirs", "t.pdf", theirs.media_type, b"", "key-1", 0.0, None, theirs.fields)
    store.room = sum(len(kept.data) for kept in store.files.values())
    response = ask(call_style, llm, paths[3])
    assert response.media[0].stored == "uploaded"
    assert sorted(kept.name for kept in store.files.values()) == ["1.pdf", "2.pdf", "3.pdf", "t.pdf"]
    assert [file.name for file in llm.files.list()] == ["1.pdf", "2.pdf", "3.pdf"]


def test_files_of_this_call_and_of_others_are_not_deleted_for_room(call_style, store, services, tmp_path):
    llm = llm_of(store, services, file_store="always")
    one, other = paper(tmp_path, "one", "1.pdf"), paper(tmp_path, "other", "2.pdf")
    ask(call_style, llm, one)
    store.room = len(one.read_bytes())
    with pytest.raises(StorageFullError, match=r"file_store='never'") as caught:
        ask(call_style, llm, one, other)
    assert isinstance(caught.value, QuotaError)
    assert [kept.name for kept in store.files.values()] == ["1.pdf"]


def test_uploads_are_listed_and_deleted(call_style, store, services, tmp_path):
    llm = llm_of(store, services, file_store="always")
    ask(call_style, llm, paper(tmp_path))
    (file,) = llm.files.list()
    assert (file.name, file.size, file.media_type) == ("paper.pdf", len(PDF), "application/pdf")
    assert file.endpoint == f"{store.server.url}{STORES[store.provider][2]}"
    if call_style.name == "sync":
        llm.files.delete(file)
    else:
        assert call_style.run(llm.files.alist()) == (file,)
        call_style.run(llm.files.adelete(file))
    assert (store.files, llm.files.list()) == ({}, ())
    llm.files.delete(file)  # gone already
    other = llm_of(store, services, "key-2")
    assert other.files.list() == ()
    with pytest.raises(InvalidInputError, match="another account"):
        other.files.delete(file)


def test_keys_are_neither_in_the_index_nor_in_errors(call_style, store, tmp_path, clock):
    key = "sk-0123456789abcdef0123456789"
    store.keys = (key,)
    services = services_with(clock, stored_files=FolderStoredFiles(tmp_path / "index"))
    llm = llm_of(store, services, key, file_store="always")
    ask(call_style, llm, paper(tmp_path))
    written = b"".join(path.read_bytes() for path in (tmp_path / "index").rglob("*.json"))
    assert b"paper.pdf" in written
    assert key.encode() not in written
    names = [str(path) for path in (tmp_path / "index").rglob("*")]
    assert not any(key in name for name in names)
    store.room = 0
    store.files.clear()
    with pytest.raises(AbstractCoreError) as caught:
        ask(call_style, llm, paper(tmp_path, "more"))
    assert key not in repr(caught.value) + str(caught.value) + str(vars(caught.value))
    assert key not in repr(llm.files.list())
    services.close()


def test_request_of_an_upload_has_a_record_and_costs_nothing(call_style, store, services, tmp_path):
    records: list[Any] = []
    services.records.subscribe(records.append, capture="full")
    llm = llm_of(store, services, file_store="always", tags={"team": "search"})
    response = ask(call_style, llm, paper(tmp_path))
    services.records.close(5)
    uploads, chats = ([each for each in records if (each.operation == "chat") is chat] for chat in (False, True))
    assert {each.operation for each in uploads} == {"files.upload"}
    assert {each.parent_id for each in uploads} == {response.trace_id}
    assert {each.cost for each in uploads} == {0}
    assert {each.tags["team"] for each in uploads} == {"search"}
    assert {each.call for each in uploads} == {None}
    content = (tmp_path / "paper.pdf").read_bytes()
    file = {"sha256": sha256(content).hexdigest(), "media_type": "application/pdf", "size": len(content)}
    assert all(file.items() <= each.input["file"].items() and "data" not in each.input for each in uploads)
    assert len(chats) == 1


def test_both_rings_of_middleware_see_uploads_and_the_headers_of_the_user(call_style, services, tmp_path):
    seen: list[str] = []

    class Watch:
        async def around_call(self, context, next):
            seen.append(f"call {context.operation.name}")
            return await next(context)

        async def around_attempt(self, attempt, next):
            seen.append(f"attempt {attempt.operation.name}")
            return await next(attempt)

    with running("anthropic") as store:
        store.provider = "anthropic"
        llm = llm_of(store, services, file_store="always", middleware=[Watch()], headers={"x-team": "search"})
        ask(call_style, llm, paper(tmp_path))
        assert [request.headers["x-team"] for request in store.server.requests] == ["search", "search"]
    assert seen == ["call chat", "call files.upload", "attempt files.upload", "attempt chat"]


def test_transient_failure_of_an_upload_is_retried(call_style, store, services, clock, tmp_path):
    from tests.providers.file_stores.fakes import RefusedError

    store.refusals += [RefusedError(503, "busy", status="UNAVAILABLE")] * 2
    llm = llm_of(store, services, file_store="always")
    assert ask(call_style, llm, paper(tmp_path)).media[0].stored == "uploaded"
    assert len(clock.sleeps) == 2
    assert store.uploads() == 1


def test_forms_hold_what_was_given(call_style, services, tmp_path):
    with running("anthropic") as store:
        store.provider = "anthropic"
        name = 'a "b"\nü.pdf'
        ask(call_style, llm_of(store, services, file_store="always"), paper(tmp_path, name=name))
        assert sent(store.server.requests[0]) == {"expires_in_seconds": "172800", "file": PDF}
