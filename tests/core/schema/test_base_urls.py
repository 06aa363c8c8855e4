"""Base URLs with and without the path of the API."""

from __future__ import annotations

import pytest

from abstractcore.schema import whole_base_url

OWN = "https://api.vendor.test/openai/v1"
PROJECT = "/v1beta1/projects/p/locations/l"


@pytest.mark.parametrize(
    ("url", "usual", "path", "whole"),
    [
        ("https://api.vendor.test", OWN, "", OWN),
        ("https://api.vendor.test/", OWN, "/openai/v1", OWN),
        ("https://api.vendor.test/openai", OWN, "/openai/v1", OWN),
        (OWN, OWN, "/openai/v1", OWN),
        ("https://api.vendor.test.evil/", OWN, "", "https://api.vendor.test.evil"),
        ("https://api.vendor.test/other", OWN, "", "https://api.vendor.test/other"),
        ("https://api.vendor.test/v1", "https://api.vendor.test", "", "https://api.vendor.test"),
        ("https://gateway.test/ai", OWN, "", "https://gateway.test/ai"),
        ("https://gateway.test/ai/", OWN, "/v1", "https://gateway.test/ai/v1"),
        ("https://gateway.test/v1/ai", OWN, "/v1", "https://gateway.test/v1/ai/v1"),
        ("https://gateway.test/v1alpha", OWN, "/v1beta", "https://gateway.test/v1alpha"),
        ("https://gateway.test/v1beta2", None, "/v1", "https://gateway.test/v1beta2"),
        ("https://gateway.test/v12x", None, "/v1", "https://gateway.test/v12x/v1"),
        ("https://gateway.test", None, PROJECT, f"https://gateway.test{PROJECT}"),
        ("https://gateway.test/v1", None, PROJECT, "https://gateway.test/v1/projects/p/locations/l"),
        (f"https://gateway.test{PROJECT}", None, PROJECT, f"https://gateway.test{PROJECT}"),
    ],
)
def test_end_of_a_base_url_may_be_missing(url: str, usual: str | None, path: str, whole: str):
    assert whole_base_url(url, usual, path) == whole
    assert whole_base_url(whole, usual, path) == whole
