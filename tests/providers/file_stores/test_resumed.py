"""Uploads in several requests: continued where the server is, checked, and processed before they are used."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from abstractcore import MediaError, ServerError, Services, create_llm
from abstractcore.stores.artifacts import FolderStoredFiles
from abstractcore.testing import VirtualClock
from tests.media_doubles import Handler, registry
from tests.providers.file_stores.fakes import STORES, GoogleStore, RefusedError, running

MIB = 1 << 20
VIDEO = b"VIDEO" + bytes(range(256)) * 82_000  # 20 MiB: three chunks
CHUNKS = [(0, 8 * MIB), (8 * MIB, 8 * MIB), (16 * MIB, len(VIDEO) - 16 * MIB)]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(time_of_day=1_800_000_000.0)


@pytest.fixture
def video(tmp_path) -> Path:
    path = tmp_path / "clip.mp4"
    path.write_bytes(VIDEO)
    return path


@pytest.fixture
def google():
    with running("google") as store:
        yield store


@pytest.fixture
def services(clock):
    services = services_with(clock)
    yield services
    services.close()


def services_with(clock, **more: Any) -> Services:
    clips = Handler("clip", "video", b"VIDEO", "video/mp4")
    papers = Handler("paper", "document", b"%PDF-", "application/pdf")
    return Services(environment={}, clock=clock, random=lambda: 0.5, registry=registry(clips, papers), **more)


def llm_of(store: Any, services: Services, provider: str = "google", **options: Any):
    _, model, path = STORES[provider]
    url = f"{store.server.url}{path}"
    options = {"file_store": "always", **options}
    return create_llm(provider, model=model, base_url=url, api_key="key-1", services=services, **options)


def ask(call_style, llm, path: Path, **options: Any):
    return call_style.generate(llm, "What is it?", media=[path], **options)


def kept(store: GoogleStore) -> bytes:
    (file,) = store.files.values()
    return file.data


@pytest.mark.exhaustive
def test_large_file_is_sent_in_chunks(call_style, google, services, video):
    ask(call_style, llm_of(google, services), video)
    assert google.chunks == CHUNKS
    assert kept(google) == VIDEO


@pytest.mark.parametrize("cut_at", [0, 3 * MIB, 8 * MIB, 12 * MIB, 18 * MIB])
def test_cut_upload_continues_at_the_offset_that_the_server_reports(call_style, google, services, clock, video, cut_at):
    google.cuts = [cut_at]
    assert ask(call_style, llm_of(google, services), video).media[0].stored == "uploaded"
    assert kept(google) == VIDEO
    begun = next(offset for offset, length in CHUNKS if offset <= cut_at < offset + length)
    offsets = [offset for offset, _ in google.chunks]
    assert offsets[offsets.index(begun) + 1] == cut_at, "the chunk after the cut begins where the server is"
    assert [line.endswith("query") for line in google.log].count(True) == 1
    assert clock.sleeps == [0.5]


@pytest.mark.parametrize(("forget_body", "uploads"), [(False, 1), (True, 2)])
def test_upload_whose_last_answer_was_lost_is_found_or_begun_again(
    call_style, google, services, video, forget_body, uploads
):
    google.cut_answers, google.forget_body = 1, forget_body
    assert ask(call_style, llm_of(google, services), video).content == "Read."
    assert google.uploads() == uploads


def test_upload_without_progress_is_given_up(call_style, google, services, clock, video):
    from abstractcore import ConnectionFailedError

    google.cuts = [0] * 9
    llm = llm_of(google, services)
    with pytest.raises(ConnectionFailedError):
        ask(call_style, llm, video)
    assert clock.sleeps == [0.5, 1.0, 2.0, 4.0]
    assert llm.files.list() == ()
    google.cuts.clear()
    assert ask(call_style, llm, video).media[0].stored == "uploaded"


def test_file_in_processing_is_waited_for(call_style, google, services, clock, video):
    google.processing = 4
    llm = llm_of(google, services)
    assert ask(call_style, llm, video).content == "Read."
    assert clock.sleeps == [1.0, 2.0, 4.0]
    assert [file.ready for file in llm.files.list()] == [True]


def test_file_that_cannot_be_processed_is_deleted_and_named(call_style, google, services, video):
    google.processing, google.end_state = 2, "FAILED"
    llm = llm_of(google, services)
    with pytest.raises(MediaError, match=r"clip\.mp4 could not be uploaded.*the codec is not supported.*media_policy"):
        ask(call_style, llm, video)
    assert (google.files, llm.files.list()) == ({}, ())


@pytest.mark.parametrize("hex_hash", [True, False])
def test_hash_that_the_provider_reports_is_compared(call_style, google, services, video, hex_hash):
    google.hex_hash = hex_hash
    llm = llm_of(google, services)
    ask(call_style, llm, video)
    google.wrong_hash = True
    video.write_bytes(VIDEO + b"more")
    with pytest.raises(MediaError, match="another hash"):
        ask(call_style, llm, video)
    assert len(google.files) == 1, "what arrived wrongly is deleted"


def test_deadline_ends_the_wait_for_processing_and_a_later_call_continues_it(google, services, clock, video):
    from abstractcore import RequestTimeoutError

    google.processing = 10
    llm = llm_of(google, services, timeout=20.0)
    with pytest.raises(RequestTimeoutError):
        llm.generate("What is it?", media=[video])
    assert [file.ready for file in llm.files.list()] == [False]
    google.processing = 0
    assert llm.generate("What is it?", media=[video]).media[0].stored == "reused"
    assert google.uploads() == 1


def test_file_that_changes_while_it_is_uploaded_is_refused(call_style, google, services, video):
    steps = google._steps

    def change(request):
        video.write_bytes(b"VIDEO" + bytes(len(VIDEO) - 5))
        return steps(request)

    google.server.always_by(change)
    with pytest.raises(MediaError, match="has changed"):
        ask(call_style, llm_of(google, services), video)
    assert google.files == {}


def test_address_of_another_path_is_not_used(call_style, google, services, video, monkeypatch):
    from tests.chaos_server import answer

    google.server.always_by(lambda request: (answer(b"", x_goog_upload_url="https://elsewhere.example/x?upload_id=1"),))
    with pytest.raises(ServerError, match="no address for the upload"):
        ask(call_style, llm_of(google, services, max_retries=0), video)
    assert {request.target for request in google.server.requests} == {"/upload/v1beta/files"}


@pytest.mark.exhaustive
def test_large_file_of_openai_is_sent_in_parts(call_style, services, tmp_path):
    path = tmp_path / "paper.pdf"
    path.write_bytes(b"%PDF-" + bytes(40 * MIB))
    with running("openai-responses") as store:
        store.refusals.append(RefusedError(503, "busy"))
        ask(call_style, llm_of(store, services, "openai-responses"), path)
        (file,) = store.files.values()
        assert file.data == path.read_bytes()
        parts = [line for line in store.log if line.startswith("POST /uploads")]
        assert parts[-4:] == [
            "POST /uploads",
            "POST /uploads/upload-1/parts",
            "POST /uploads/upload-1/parts",
            "POST /uploads/upload-1/complete",
        ]


def test_threads_upload_the_same_file_once(google, services, video):
    llm, found = llm_of(google, services), []
    threads = [
        threading.Thread(target=lambda: found.append(llm.generate("?", media=[video]).media[0].stored))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["reused"] * 5 + ["uploaded"]
    assert google.uploads() == 1


@pytest.mark.exhaustive
def test_tasks_upload_the_same_file_once(google, services, video):
    llm = llm_of(google, services)

    async def all_at_once():
        return await asyncio.gather(*(llm.agenerate("?", media=[video]) for _ in range(40)))

    found = asyncio.run(all_at_once())
    assert sorted(each.media[0].stored or "" for each in found) == ["reused"] * 39 + ["uploaded"]
    assert google.uploads() == 1


def test_cancelled_upload_leaves_no_entry_and_the_next_call_uploads(google, services, video, monkeypatch):
    llm, gate = llm_of(google, services), google.server.gate()
    steps = google._steps
    google.server.always_by(lambda request: (gate, *steps(request)))
    runtime = type(services.async_runtime)
    wait = runtime.wait

    async def cancelled():
        waits = asyncio.Event()

        async def noted(self: Any, future: Any):
            waits.set()
            await wait(self, future)

        monkeypatch.setattr(runtime, "wait", noted)
        task = asyncio.ensure_future(llm.agenerate("?", media=[video]))
        await asyncio.to_thread(gate.wait_until_reached)
        waiting = asyncio.ensure_future(llm.agenerate("?", media=[video]))
        await waits.wait()
        google.server.always_by(steps)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await waiting

    assert asyncio.run(cancelled()).media[0].stored == "uploaded"
    assert len(llm.files.list()) == 1
    assert google.uploads() == 1


def test_processes_share_a_folder(google, clock, video, tmp_path):
    for how in ("uploaded", "reused"):
        services = services_with(clock, stored_files=FolderStoredFiles(tmp_path / "index"))
        assert llm_of(google, services).generate("?", media=[video]).media[0].stored == how
        services.close()
    assert google.uploads() == 1
