"""`/metrics`, read by the parser of prometheus_client."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.sync.client import connect

from abstractcore import CostSums, Price, ResponseCache, Usage, create_llm
from abstractcore.testing import ScriptedReply
from abstractcore_server import FixedKeys
from abstractcore_server.access.admission import Settlement
from abstractcore_server.access.settlements import Spending
from abstractcore_server.metrics import Metrics, SharedFolder
from abstractcore_server.records import AuditEntry
from tests.chaos_server import HANG, PATIENCE_SECONDS, failure
from tests.leftovers import wait_until
from tests.server.serving import Served, serving

KEY = "a-key-of-this-server"
BACKGROUNDS, WEBSOCKETS = "background_responses_running", "websocket_connections_open"
ASK = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    with serving(access=FixedKeys([KEY])) as served:
        yield served


@pytest.fixture
def http(served: Served) -> Iterator[httpx2.Client]:
    headers = {"authorization": f"Bearer {KEY}"}
    with httpx2.Client(base_url=served.url, headers=headers, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        yield client


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Each sample by its name and the values of its labels."""
    families = text_string_to_metric_families(text)
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_requests_calls_and_tokens_are_counted(served: Served, http: httpx2.Client):
    served.script(ScriptedReply.text("Bonjour.", usage=Usage(7, 3)))
    assert http.post("/v1/chat/completions", json=ASK).status_code == 200
    assert http.post("/v1/chat/completions", json={**ASK, "model": 'no"such\nmodel'}).status_code == 404
    assert http.get("/no/such/path").status_code == 404
    response = http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(response.text)
    assert found["abstractcore_requests_total", "/v1/chat/completions", "200"] == 1
    assert found["abstractcore_requests_total", "/v1/chat/completions", "404"] == 1
    assert found["abstractcore_requests_total", "other", "404"] == 1
    assert found["abstractcore_calls_total", "scripted/scripted"] == 1
    assert found["abstractcore_tokens_total", "scripted/scripted", "input"] == 7
    assert found["abstractcore_tokens_total", "scripted/scripted", "output"] == 3
    assert found["abstractcore_requests_running",] == 1
    assert found["abstractcore_request_seconds_bucket", "+Inf"] == found["abstractcore_request_seconds_count",] == 3
    assert KEY not in response.text
    assert "such" not in response.text


def test_what_runs_now_is_shown(served: Served, http: httpx2.Client):
    def now() -> tuple[float, float]:
        found = samples(http.get("/metrics").text)
        return found[f"abstractcore_{BACKGROUNDS}",], found[f"abstractcore_{WEBSOCKETS}",]

    assert now() == (0, 0)
    served.vendor.script(HANG)
    body = {"model": "openai-compatible/m", "input": "hi", "background": True}
    url = f"ws{served.url.removeprefix('http')}/v1/responses"
    with connect(url, proxy=None, additional_headers={"authorization": f"Bearer {KEY}"}):
        id = http.post("/v1/responses", json=body).json()["id"]
        served.vendor.wait_for_requests(1)
        assert now() == (1, 1)
    http.post(f"/v1/responses/{id}/cancel")
    wait_until(lambda: now() == (0, 0))


def test_process_that_has_died_does_nothing(tmp_path: Path):
    first, second = SharedFolder(tmp_path, "1"), SharedFolder(tmp_path, "2")
    first.save({BACKGROUNDS: {"": 3}, WEBSOCKETS: {"": 3}, "calls_total": {"": 5}})
    metrics = Metrics(second, lambda: 1, lambda: 2)

    def shown() -> list[float]:
        found = samples(metrics.text())
        return [found[f"abstractcore_{name}",] for name in (BACKGROUNDS, WEBSOCKETS, "calls_total")]

    assert shown() == [4, 5, 5]
    second.bury("1")
    assert shown() == [1, 2, 5]


def test_counts_need_a_key(served: Served):
    assert httpx2.get(f"{served.url}/metrics", trust_env=False).status_code == 401


def test_names_of_models_do_not_grow_without_limit():
    metrics = Metrics()
    for number in range(300):
        metrics.counts.count(
            AuditEntry("0", "POST", "/v1/x", model=f'openai/"{number}\\\n', calls=1, input_tokens=1), 200, 0.5
        )
    found = samples(metrics.text())
    models = {key[1] for key in found if key[0] == "abstractcore_calls_total"}
    assert len(models) == 201
    assert found["abstractcore_calls_total", "other"] == 100
    assert 'openai/"0\\\n' in models


def test_known_estimated_and_unknown_costs_are_three_sums():
    entry = AuditEntry("t", "POST", "/v1/responses", model="vendor/m")
    usage, loop = Usage(1, 1), CostSums(Decimal("0.25"), Decimal("0.5"), 1)
    entry.count(Settlement("done", usage, Decimal("0.125"), "vendor"))
    entry.count(Settlement("cancelled", usage, Decimal("0.0625"), "estimate", True))
    entry.count(Settlement("done", usage))
    entry.count(Settlement("failed", usage, Decimal(3), "estimate", True, costs=loop))
    metrics = Metrics()
    metrics.counts.count_calls(entry)
    found = samples(metrics.text())
    assert found["abstractcore_cost_dollars_total", "vendor/m"] == 0.375
    assert found["abstractcore_cost_estimated_dollars_total", "vendor/m"] == 0.5625
    assert found["abstractcore_cost_unknown_calls_total", "vendor/m"] == 2


@pytest.mark.parametrize("usage", [Usage(10, 5), Usage()])
def test_answer_of_a_cache_costs_nothing_and_counts_no_tokens(usage: Usage):
    reply = ScriptedReply.text("hi", usage=usage)
    price = Price(input=1_000_000, output=1_000_000)
    llm = create_llm("scripted", replies=[reply], price=price, middleware=[ResponseCache()])
    call = llm.build("hello")
    asked, hit = (llm.run(call) for _ in range(2))
    settlement = Spending(call, llm, result=hit).settlement(None)
    assert (settlement.cost, settlement.estimated, settlement.usage) == (Decimal(0), False, Usage())
    entry = AuditEntry("t", "POST", "/v1/responses", model="vendor/m")
    entry.count(settlement)
    metrics = Metrics()
    metrics.counts.count_calls(entry)
    found = samples(metrics.text())
    assert found["abstractcore_cost_dollars_total", "vendor/m"] == 0
    assert found["abstractcore_cost_unknown_calls_total", "vendor/m"] == 0
    assert found["abstractcore_cost_saved_dollars_total", "vendor/m"] == float(asked.cost or 0)
    tokens = [value for name, value in found.items() if name[0] == "abstractcore_tokens_total"]
    assert set(tokens) <= {0}


def test_cost_of_what_a_vendor_refused_is_unknown(served: Served, http: httpx2.Client):
    before = samples(http.get("/metrics").text)
    served.vendor.script(failure(400))
    body = {"model": "openai-compatible/m", "messages": [{"role": "user", "content": "hi"}]}
    assert http.post("/v1/chat/completions", json=body).status_code == 400
    unknown = ("abstractcore_cost_unknown_calls_total", "openai-compatible/m")
    assert samples(http.get("/metrics").text)[unknown] == before.get(unknown, 0) + 1
