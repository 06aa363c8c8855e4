"""OpenTelemetry is an extra: nothing imports it until it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from abstractcore import MissingExtraError


def test_missing_package_is_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("abstractcore.otel")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    with pytest.raises(MissingExtraError, match=r"pip install opentelemetry-api opentelemetry-sdk \(part of .*'otel'"):
        import abstractcore.otel  # noqa: F401


@pytest.mark.process
def test_calls_load_nothing_of_it():
    code = """
import sys, abstractcore
abstractcore.create_llm("scripted", replies=["hello"]).generate("hi")
print([name for name in sys.modules if name.startswith(("opentelemetry", "abstractcore.otel"))])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "[]\n"
