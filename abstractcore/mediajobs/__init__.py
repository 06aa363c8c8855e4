"""Jobs of vendors that make media: requests, polls, cancellation and downloads. Backends of plugins build on it.

A wire format is pure (`JobFormat`): it returns requests and reads responses. `Jobs` sends them through `owner.http`.
Knows no vendor and no kind of media.
"""

from __future__ import annotations

from .bodies import (
    FormFile,
    error_body,
    form_request,
    from_base64,
    get_request,
    json_object,
    json_request,
    list_of,
    mapping_of,
    text_of,
)
from .driver import Jobs
from .steps import blocked_error, error_of, is_about_content, job_failed
from .steps import EventReader, FinishedJob, JobFormat, MadeFile, Step, TaskRequest, PendingJob, metadata_of
from .steps import TrackedOptions
from .bodies import Vendor, read_vendors

__all__ = [
    "EventReader",
    "FinishedJob",
    "FormFile",
    "JobFormat",
    "Jobs",
    "MadeFile",
    "PendingJob",
    "Step",
    "TaskRequest",
    "TrackedOptions",
    "Vendor",
    "blocked_error",
    "error_body",
    "error_of",
    "form_request",
    "from_base64",
    "get_request",
    "is_about_content",
    "job_failed",
    "json_object",
    "json_request",
    "list_of",
    "mapping_of",
    "metadata_of",
    "read_vendors",
    "text_of",
]
