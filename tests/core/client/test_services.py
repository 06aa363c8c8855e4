"""`Services`: what is created on first use, by several threads at once, too; types and texts of files, estimates."""

from __future__ import annotations

import random
import threading

import pytest

from abstractcore import File, InvalidInputError, MediaError, Message, ModelCall, Services
from abstractcore.concurrency import process_pool
from abstractcore.concurrency.process_pool import ProcessPool


def test_threads_that_ask_for_isolation_at_once_get_one_pool(monkeypatch: pytest.MonkeyPatch):
    """The other one would start processes that `close` does not end."""
    services = Services(environment={})
    found: list[object] = []

    class OvertakenPool(ProcessPool):
        """While the first one is created, another thread gets its own."""

        def __init__(self) -> None:
            super().__init__()
            if not found:
                found.append(None)
                thread = threading.Thread(target=lambda: found.append(services.isolation))
                thread.start()
                thread.join()

    monkeypatch.setattr(process_pool, "ProcessPool", OvertakenPool)
    found[:1] = [services.isolation]
    assert found[0] is found[1]
    assert services.isolation is found[0]
    services.close()


def test_trace_ids_do_not_follow_from_random_numbers():
    """A server stores responses under them, and a program may have set the state of `random`."""
    services, before = Services(environment={}), random.getstate()
    random.seed(0)
    ids = [services.new_id()]
    random.seed(0)
    ids.append(services.new_id())
    random.setstate(before)
    assert ids[0] != ids[1]
    assert all(len(bytes.fromhex(id)) == 16 for id in ids)


def test_type_of_a_file_is_found_in_its_content_its_name_or_as_declared():
    services = Services(environment={})
    assert services.media_type(File(b"%PDF-1.7", name="a.bin")) == "application/pdf"
    assert services.media_type(File(b"a,b", name="a.csv")) == "text/csv"
    assert services.media_type(File(b"?", media_type="image/webp")) == "image/webp"
    with pytest.raises(InvalidInputError):
        services.media_type(1)  # pyright: ignore[reportArgumentType]


def test_services_read_the_text_of_a_file_on_this_machine():
    services = Services(environment={})
    assert services.extract_text(File(b"a,b", name="a.csv")) == "| a | b |\n| --- | --- |"
    with pytest.raises(MediaError, match="has no text that can be extracted"):
        services.extract_text(File(b"\0\1\2", name="a.bin", media_type="application/x-unknown"))


def test_tokens_are_estimated_without_a_model():
    estimate = Services.estimate_tokens(ModelCall("any", (Message.user("How are you?"),)))
    assert estimate.estimated
    assert estimate > 0
