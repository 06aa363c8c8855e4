"""Signatures, compared with botocore's own at a fixed time."""

from datetime import UTC, datetime

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import WireRequest
from abstractcore_providers.vendors.bedrock.signature import AwsKeys, SignatureAuth
from tests.properties import examples
from tests.providers.formats.bedrock_converse.wire import CONVERSE, call

NOW = 1_763_780_000.5
KEYS = AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
LENT = AwsKeys("ASIAEXAMPLE", "secret", "token/with+signs==")
URL = "https://bedrock-runtime.eu-central-1.amazonaws.com"
ARN = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.amazon.nova-pro-v1:0"


def theirs(request: WireRequest, keys: AwsKeys, region: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The header fields that botocore signs and adds."""
    now = datetime.fromtimestamp(NOW, UTC).replace(tzinfo=None)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_: now)
    theirs = AWSRequest(request.method, request.url, dict(request.headers), request.body)
    credentials = Credentials(keys.access_key, keys.secret_key, keys.token)
    botocore.auth.SigV4Auth(credentials, "bedrock", region).add_auth(theirs)
    return {name.lower(): value for name, value in theirs.headers.items()}


@pytest.mark.parametrize("keys", [KEYS, LENT], ids=["own keys", "lent keys"])
@pytest.mark.parametrize("model", ["amazon.nova-pro-v1:0", ARN, "m"], ids=["id", "ARN", "plain"])
@pytest.mark.parametrize(
    "url", [URL, "http://127.0.0.1:8080", "https://localhost:443/prefix"], ids=["Bedrock", "loopback", "prefix"]
)
def test_signature_matches_botocore(keys: AwsKeys, model: str, url: str, monkeypatch: pytest.MonkeyPatch):
    request = CONVERSE.encode(call(model=model)).request
    signed = SignatureAuth(keys, "eu-central-1").sign(request.with_url(url + request.url), NOW)
    assert dict(signed.headers) == theirs(request.with_url(url + request.url), keys, "eu-central-1", monkeypatch)
    assert (signed.body, signed.url) == (request.body, url + request.url)


@examples(60)
@given(
    st.text("abc:/-._~%+ =äö", max_size=12).map(lambda model: call(model=f"m{model}")),
    st.dictionaries(st.text("abcx-", min_size=2, max_size=5), st.text("a b,", min_size=1, max_size=6), max_size=2),
)
def test_signature_matches_botocore_for_odd_models_and_headers(call: object, headers: dict[str, str]):
    request = CONVERSE.encode(call).request  # type: ignore[arg-type]
    request = request.with_url(URL + request.url).with_headers(headers)
    with pytest.MonkeyPatch.context() as monkeypatch:
        expected = theirs(request, KEYS, "us-east-1", monkeypatch)
    assert dict(SignatureAuth(KEYS, "us-east-1").sign(request, NOW).headers) == expected


def test_signature_depends_on_the_time():
    request = CONVERSE.encode(call()).request.with_url(URL)
    auth = SignatureAuth(KEYS, "us-east-1")
    assert auth.sign(request, NOW) == auth.sign(request, NOW)
    assert auth.sign(request, NOW).headers != auth.sign(request, NOW + 1).headers


def test_secrets_are_not_in_the_repr():
    shown = repr(SignatureAuth(LENT, "us-east-1"))
    assert "ASIAEXAMPLE" in shown
    assert "secret'" not in shown
    assert "token/" not in shown
