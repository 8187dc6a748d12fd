"""Whose processes are ended with a session. Spec 05, AE-1205, AE-1206."""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing.connection import Connection

import pytest

from cannkit.ae.caller import CallEndedError, Signature
from cannkit.ae.event import NULL
from cannkit.ae.host_caller import HostCaller
from tests.ae.library import Here, built

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def answer(pipe: Connection, *, leaves: bool) -> None:
    """What a worker of the user does: wait, and say that it is there."""
    if leaves:
        os.setsid()
    pipe.send("ready")
    pipe.send(pipe.recv())


def code(caller: HostCaller, source: str, name: str) -> int:
    library = caller.open(built(source)).library
    assert library is not None
    found = caller.find(library, name)
    assert found is not None
    return caller.call(found.function, Signature.PARAM, NULL, (0, 1)).code


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # Python 3.12
@pytest.mark.parametrize("leaves", [False, True])
def test_a_worker_of_the_user_survives(leaves: bool) -> None:
    """It holds this process's ends of the pipes, in a session of its own, too."""
    forked = multiprocessing.get_context("fork")
    ours, theirs = forked.Pipe()
    with HostCaller(Here(), 10) as caller:
        assert code(caller, "ops", "code_0") == 0
        worker = forked.Process(target=answer, args=(theirs,), kwargs={"leaves": leaves})
        worker.start()
        theirs.close()
        assert ours.recv() == "ready"
    ours.send("still here")
    assert ours.recv() == "still here"
    worker.join()
    assert worker.exitcode == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_of_this_process_asks_nothing() -> None:
    """It ends nothing either: the child is its parent's."""
    with HostCaller(Here(), 10) as caller:
        assert code(caller, "ops", "code_0") == 0
        pid = os.fork()
        if pid == 0:
            try:
                code(caller, "ops", "code_0")
            except CallEndedError as ended:
                os._exit(7 if ended.verdict.what == "the process was ended before" else 8)
            finally:
                os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        assert code(caller, "ops", "code_501") == 501
