"""Media types by file extension, and which of them are text. Data only."""

from __future__ import annotations

from collections.abc import Set

_SUFFIXES = {
    "application/epub+zip": "epub",
    "application/gzip": "gz tgz",
    "application/json": "json geojson",
    "application/msword": "doc dot",
    "application/pdf": "pdf",
    "application/vnd.ms-excel": "xls xlt",
    "application/vnd.ms-outlook": "msg",
    "application/vnd.ms-powerpoint": "ppt pps pot",
    "application/vnd.oasis.opendocument.presentation": "odp otp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods ots",
    "application/vnd.oasis.opendocument.text": "odt ott",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx pptm ppsx ppsm potx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx xlsm xltx xltm",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx docm dotx dotm",
    "application/x-bzip2": "bz2 tbz2",
    "application/x-ipynb+json": "ipynb",
    "application/x-tar": "tar",
    "application/x-xz": "xz txz",
    "application/xhtml+xml": "xhtml",
    "application/xml": "xml xsd xsl rss atom",
    "application/yaml": "yaml yml",
    "application/zip": "zip",
    "audio/aac": "aac adts",
    "audio/ac3": "ac3 eac3",
    "audio/aiff": "aif aiff aifc",
    "audio/amr": "amr awb",
    "audio/basic": "au snd",
    "audio/flac": "flac",
    "audio/mp4": "m4a m4b",
    "audio/mp4a-latm": "latm loas",
    "audio/mpeg": "mp3 mp2 mpga",
    "audio/ogg": "ogg oga opus spx",
    "audio/vnd.dts": "dts",
    "audio/vnd.rn-realaudio": "ra",
    "audio/wav": "wav wave",
    "audio/x-ape": "ape",
    "audio/x-caf": "caf",
    "audio/x-dsf": "dsf",
    "audio/x-matroska": "mka",
    "audio/x-ms-wma": "wma",
    "audio/x-musepack": "mpc",
    "audio/x-tak": "tak",
    "audio/x-tta": "tta",
    "audio/x-voc": "voc",
    "audio/x-w64": "w64",
    "audio/x-wavpack": "wv",
    "image/avif": "avif",
    "image/bmp": "bmp",
    "image/gif": "gif",
    "image/heic": "heic heif hif",
    "image/jpeg": "jpg jpeg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/tiff": "tif tiff",
    "image/webp": "webp",
    "message/rfc822": "eml",
    "text/css": "css",
    "text/csv": "csv",
    "text/html": "html htm",
    "text/javascript": "js mjs",
    "text/markdown": "md markdown",
    "text/plain": "txt text log rst ini cfg toml jsonl ndjson",
    "text/rtf": "rtf",
    "text/tab-separated-values": "tsv",
    "text/x-python": "py pyi",
    "video/3gpp": "3gp",
    "video/3gpp2": "3g2",
    "video/mp4": "mp4 m4v",
    "video/mpeg": "mpg mpeg",
    "video/ogg": "ogv",
    "video/quicktime": "mov",
    "video/vnd.rn-realvideo": "rm rmvb",
    "video/webm": "webm",
    "video/x-flv": "flv",
    "video/x-matroska": "mkv",
    "video/x-ms-wmv": "wmv asf",
    "video/x-msvideo": "avi",
    "video/x-nut": "nut",
}
MARKUP = frozenset(
    {
        "application/x-ipynb+json",
        "application/xhtml+xml",
        "text/csv",
        "text/html",
        "text/rtf",
        "text/tab-separated-values",
    }
)
"""Text types that are converted to Markdown."""
_BY_SUFFIX = {suffix: media_type for media_type, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}


def type_by_name(name: str) -> str | None:
    """Returns the media type for a file name; None for an unknown extension.

    The standard library's table is not used: it differs between machines and maps `.ts` to video.
    """
    _, dot, suffix = name.rpartition(".")
    return _BY_SUFFIX.get(suffix.lower()) if dot else None


def extensions_of(*beginnings: str) -> tuple[str, ...]:
    """Returns the file extensions of media types with these prefixes, except text types."""
    found = (suffix for suffix, type_ in _BY_SUFFIX.items() if type_.startswith(beginnings) and not is_text_type(type_))
    return tuple(sorted(found))


def text_extensions() -> tuple[str, ...]:
    """Returns the file extensions of text types that are sent as they are."""
    return tuple(sorted(suffix for suffix, type_ in _BY_SUFFIX.items() if is_text_type(type_) and type_ not in MARKUP))


def is_text_type(media_type: str) -> bool:
    """Returns whether files of this type are text."""
    return (
        media_type.startswith("text/")
        or media_type in ("application/json", "application/xml", "application/yaml")
        or media_type.endswith(("+json", "+xml", "+yaml"))
    )


def extensions_of_types(media_types: Set[str]) -> tuple[str, ...]:
    """Returns the file extensions of exactly these media types."""
    return tuple(sorted(suffix for suffix, media_type in _BY_SUFFIX.items() if media_type in media_types))
