"""Jobs of vendors that make media: requests, polls, cancellation and downloads. Backends of plugins build on it.

A wire format is pure (`JobFormat`): it returns requests and reads responses. `Jobs` sends them through `owner.http`.
Knows no vendor and no kind of media.
"""

from ..lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .bodies import (
        FormFile as FormFile,
        Vendor as Vendor,
        error_body as error_body,
        form_request as form_request,
        from_base64 as from_base64,
        get_request as get_request,
        json_object as json_object,
        json_request as json_request,
        list_of as list_of,
        mapping_of as mapping_of,
        read_vendors as read_vendors,
        text_of as text_of,
    )
    from .driver import Jobs as Jobs
    from .steps import (
        EventReader as EventReader,
        FinishedJob as FinishedJob,
        JobFormat as JobFormat,
        MadeFile as MadeFile,
        PendingJob as PendingJob,
        Step as Step,
        TaskRequest as TaskRequest,
        TrackedOptions as TrackedOptions,
        blocked_error as blocked_error,
        error_of as error_of,
        is_about_content as is_about_content,
        job_failed as job_failed,
        metadata_of as metadata_of,
    )
