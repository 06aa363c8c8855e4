"""The headers of a request whose body is JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from abstractcore.schema import FrozenDict

JSON_HEADERS = cast("Mapping[str, str]", FrozenDict({"content-type": "application/json"}))
