"""Base URLs of APIs as users write them, with and without the path of the API."""

from __future__ import annotations

import re

_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?=/|$)")
_VERSION_AT_END = re.compile(rf"{_VERSION.pattern}$")


def whole_base_url(url: str, usual: str | None = None, path: str = "") -> str:
    """Returns the base URL of an API that is meant by `url`, which may lack the end of it.

    A beginning of `usual`, the vendor's own base URL, means all of it; so does that URL with a version that it does not
    have. `path` is the path of the API, as in "/v1", for vendors whose clients append it to their base URL: it is
    appended here too, unless the URL ends with it. A version at the end of the URL replaces that of the path.
    """
    url = url.rstrip("/")
    if usual and (f"{usual}/".startswith(f"{url}/") or _VERSION_AT_END.sub("", url) == usual):
        return usual
    after_version = _VERSION.split(path, maxsplit=1)[-1]
    if url.endswith(after_version or path):
        return url
    return url + (after_version if _VERSION_AT_END.search(url) else path)
