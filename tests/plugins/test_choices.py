"""No method of a capability asks for the key of a vendor that the user has not chosen."""

from __future__ import annotations

from contextlib import closing

import pytest

from abstractcore import AuthenticationError, CapabilityUnavailableError, Services, create_llm
from abstractcore.ports import CAPABILITIES
from abstractcore.ports.capabilities import BACKEND_METHODS
from tests.backend_doubles import PNG


def test_methods_that_the_default_backend_lacks_name_the_choices():
    asked: list[str] = []
    with closing(Services(environment={})) as services:
        llm = create_llm("scripted", replies=[], services=services)
        for capability in CAPABILITIES:
            facade = getattr(llm, capability)
            default = next(iter(services.registry.backends.preferred(capability, None)))
            for method in BACKEND_METHODS[capability]:
                backend, found = facade._backends.with_method(method) if hasattr(facade, method) else (None, None)
                if backend is None or backend.entry is default or found is None:
                    continue
                arguments = (PNG,) if method == "i2v" else ()
                with pytest.raises(
                    CapabilityUnavailableError, match=r"Choose one in create_llm: \w+_backend='"
                ) as caught:
                    getattr(facade, method)(*arguments, *([] if arguments else ["waves"]))
                assert "vision_backend='veo' (Set GEMINI_API_KEY, or vision_api_key=...)" in str(caught.value)
                asked.append(method)
    assert asked == ["t2v", "i2v"]


def test_backend_that_is_chosen_asks_for_its_key():
    with closing(Services(environment={})) as services:
        llm = create_llm("scripted", replies=[], services=services, vision_backend="veo")
        with pytest.raises(AuthenticationError, match="Set GEMINI_API_KEY"):
            llm.vision.t2v("waves")
