"""Hypothesis strategies for every object of the schema, in canonical form."""

from ...lazy_modules import LazyImports as _LazyImports

with _LazyImports(globals()):
    from .call import (
        calls as calls,
        conversations as conversations,
        hosted_tools as hosted_tools,
        messages as messages,
        output_schemas as output_schemas,
        samplings as samplings,
        tool_specs as tool_specs,
    )
    from .part import (
        audio_parts as audio_parts,
        blobs as blobs,
        blobs_elsewhere as blobs_elsewhere,
        cache_points as cache_points,
        citations as citations,
        content_parts as content_parts,
        document_parts as document_parts,
        hosted_parts as hosted_parts,
        image_parts as image_parts,
        item_options as item_options,
        json_objects as json_objects,
        json_values as json_values,
        names as names,
        numbers as numbers,
        opaque_parts as opaque_parts,
        parts as parts,
        reasoning_parts as reasoning_parts,
        reply_parts as reply_parts,
        text_parts as text_parts,
        texts as texts,
        tool_arguments as tool_arguments,
        tool_calls as tool_calls,
        tool_results as tool_results,
        video_parts as video_parts,
    )
    from .record import (
        PROVIDER_ERRORS as PROVIDER_ERRORS,
        call_records as call_records,
        deltas as deltas,
        errors as errors,
        interaction_records as interaction_records,
        streams as streams,
        tool_records as tool_records,
        transcripts as transcripts,
    )
    from .reply import (
        attempt_records as attempt_records,
        billings as billings,
        call_warnings as call_warnings,
        media_decisions as media_decisions,
        replies as replies,
        responses as responses,
        usages as usages,
    )
    from .tool_loop import (
        journal_entries as journal_entries,
        pending_calls as pending_calls,
        tool_answers as tool_answers,
        tool_loops as tool_loops,
        tool_steps as tool_steps,
    )
