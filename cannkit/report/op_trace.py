"""The launch of a traced operator call, as the document of `cannkit launch`. Spec 07, OPR-1301."""

from __future__ import annotations

from cannkit.api.op_trace import OpTrace
from cannkit.report.launch import LaunchDocument, Story


def trace_document(story: OpTrace, blocks: int) -> LaunchDocument:
    """The document of the launch of `blocks` blocks that `story` tells of."""
    launched = story.launched
    return LaunchDocument.of(
        Story(
            kernel=story.function.kernel.name,
            device=story.runtime.devices[0],
            blocks=blocks,
            launched=launched,
            content=(launched.block or b"") if launched else b"",
            ring=story.ring,
            event=story.task,
            ai_cpu=story.blocks,
            message=str(story.error or "completed"),
            error=story.error,
            is_fault=story.is_fault,
        )
    )
