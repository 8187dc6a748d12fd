"""Completion entries: what the scheduler tells the host of a task. Spec 04, 5.4."""

from __future__ import annotations

from cannkit.format.bits import Record, bits, record


# fmt: off
@record(size=32)
class Cqe(Record):
    """The logic CQ record. LCH-67."""

    #                        word lo width  C name
    stream_id:   int  = bits(0,  0, 16, "streamId", doc="stream")
    task_id:     int  = bits(0, 16, 16, "taskId", doc="task of the stream; on A5 its place in the queue")
    error_code:  int  = bits(1,  0, 32, "errorCode", doc="status of the software, where there is one")
    error_type:  int  = bits(2,  0,  8, "errorType", doc="1 exception, 2 trap, 4 timeout, 8 SQE, 0x10 conflict, 0x20 status")
    sqe_type:    int  = bits(2,  8,  8, "sqeType", doc="type of the entry")
    sq_id:       int  = bits(2, 16, 16, "sqId", doc="queue")
    sq_head:     int  = bits(3,  0, 16, "sqHead", doc="head of the queue when the task was done")
    match:       bool = bits(3, 16,  1, "match", doc="belongs to a task")
    drop:        bool = bits(3, 17,  1, "drop")
    error_bit:   bool = bits(3, 18,  1, "errorBit", doc="the task failed")
    acc_error:   bool = bits(3, 19,  1, "accError")
    next_task_valid: bool = bits(3, 20, 1, "nextTaskVld")
    notify_attached: bool = bits(3, 21, 1, "notifyAttached")
    sqe_index:   int  = bits(4,  0, 64, "timestamp or SQE index", doc="place of the entry in the queue")
# fmt: on
