"""Real calls: what comes back, how foreign code may end, and what is left of it. AE-1205, AE-1206."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from cannkit.ae.caller import CallEndedError, Found, Returned, Signature, Stage, Verdict
from cannkit.ae.event import NULL, Argument, Segment
from cannkit.ae.host_caller import HostCaller
from cannkit.errors import InputError, UsageError
from tests.ae.library import Here, built

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

BASE: Final = 0x1200_0000_0000
PAGE: Final = os.sysconf("SC_PAGESIZE")
CODES: Final = [
    "0",
    "1",
    "101",
    "201",
    "301",
    "501",
    "502",
    "503",
    "504",
    "505",
    "1000",
    "1050",
    "1099",
    "30000",
    "0xFFFFFFFF",
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where children work; afterwards it is empty, and no process is left of them."""
    place = tmp_path / "children"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []
    assert processes(place) == []


def processes(place: Path) -> list[int]:
    """Children that work below a folder, dead or alive."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            line = (each / "cmdline").read_bytes() if each.name.isdecimal() else b""
        except OSError:
            continue
        if os.fsencode(place) in line and b"host_child" in line:
            found.append(int(each.name))
    return found


@pytest.fixture
def caller() -> Iterator[HostCaller]:
    with HostCaller(Here(), timeout=10) as caller:
        yield caller


def function(caller: HostCaller, source: str, name: str, *flags: str) -> int:
    opened = caller.open(built(source, *flags))
    assert opened.library is not None, opened.why
    found = caller.find(opened.library, name)
    assert found is not None
    return found.function


def call(caller: HostCaller, source: str, name: str, argument: Argument = NULL) -> Returned:
    return caller.call(function(caller, source, name), Signature.PARAM, argument, (0, 1))


def ends(name: str, timeout: float = 10, source: str = "harm") -> Verdict:
    with HostCaller(Here(), timeout=timeout) as caller, pytest.raises(CallEndedError) as caught:
        call(caller, source, name)
    return caught.value.verdict


def block(*words: int) -> Argument:
    return Argument(BASE, (Segment(BASE, struct.pack(f"<{len(words)}q", *words)),))


@pytest.mark.parametrize("code", CODES)
def test_codes(caller: HostCaller, code: str) -> None:
    """AE-202: a raw code is a u32 and comes back as it is."""
    assert call(caller, "ops", f"code_{code}").code == int(code, 0)


def test_parameters_come_back(caller: HostCaller) -> None:
    returned = call(caller, "ops", "RunCpuKernel", block(7))
    assert returned == Returned(8, (struct.pack("<q", 8),))


def test_a_block_function(caller: HostCaller) -> None:
    """AE-101, AE-704: blockNum comes first there."""
    run = function(caller, "ops", "RunCpuKernelWithBlock")
    returned = caller.call(run, Signature.BLOCK, block(0), (3, 9))
    assert returned.segments == (struct.pack("<II", 9, 3),)


def test_an_address_function(caller: HostCaller) -> None:
    """AE-703: the operate block is not aligned."""
    run = function(caller, "ops", "TFOperateAPI")
    argument = Argument(BASE + 4, (Segment(BASE, struct.pack("<II", 0, 41)),))
    assert caller.call(run, Signature.ADDRESS, argument, (0, 1)).code == 42


def test_null(caller: HostCaller) -> None:
    assert call(caller, "ops", "is_null").code == 1
    assert call(caller, "ops", "is_null", block(0)).code == 0


def test_output_is_that_of_one_call(caller: HostCaller) -> None:
    assert call(caller, "ops", "greet").output in ("hello\nworld\n", "world\nhello\n")
    assert call(caller, "ops", "code_0").output == ""


def test_output_is_cut(caller: HostCaller) -> None:
    returned = call(caller, "harm", "print_much")
    assert returned.code == 0
    text, _, more = returned.output.partition("... ")
    assert len(text) == 64 << 10
    assert text.startswith("abcdefghijklmnopqrstuvwxyzabc")
    assert more == f"({100_000 - (64 << 10)} bytes more)"


def test_large_parameters(caller: HostCaller) -> None:
    """More than a pipe holds goes there and back."""
    data = bytes(range(256)) * (4 << 12)
    weights = Segment(BASE + (1 << 32), data)
    words = struct.pack("<qq", weights.address, len(data) - 1)
    returned = call(caller, "ops", "poke", Argument(BASE, (Segment(BASE, words), weights)))
    assert returned.segments == (words, data[:-1] + b"\x55")


def test_functions_of_other_libraries(caller: HostCaller) -> None:
    """AE-701: dlsym searches what the library needs, too; the provider is told."""
    needs = built("needs", built("ops"))
    opened = caller.open(needs)
    assert opened.library is not None
    found = caller.find(opened.library, "code_501")
    assert found is not None
    assert found.provider == "libops.so"
    libc = caller.find(opened.library, "getpid")
    assert libc is not None
    assert libc.provider == "libc.so.6"
    own = caller.find(opened.library, "through")
    assert own is not None
    assert own.provider == ""
    assert caller.call(own.function, Signature.PARAM, NULL, (0, 1)).code == 201


def test_indirect_weak_hidden_and_odd_names(caller: HostCaller) -> None:
    assert call(caller, "ops", "indirect").code == 77
    assert call(caller, "ops", "feeble").code == 8
    library = caller.open(built("ops")).library
    assert library is not None
    for name in ("concealed", "my_op", "", "\udcff", "nö", "x" * 10_000):
        assert caller.find(library, name) is None
    assert "_Z5my_opPv" in caller.why_missing(library, "my_op")


def test_global_lookup(caller: HostCaller) -> None:
    """AE-702, Q-8: libraries that were opened, not the C library nor the interpreter."""
    assert caller.find_global("code_0") is None
    assert caller.why_missing(None, "code_0") == "no library that was opened exports code_0"
    assert caller.open(built("ops")).library
    found = caller.find_global("code_0")
    assert found is not None
    assert found.provider == "libops.so"
    for name in ("getpid", "Py_IncRef", "dlopen", "environ"):
        assert caller.find_global(name) is None
        assert caller.why_missing(None, name).startswith(f"{name} is found in ")
    assert caller.find_global("my_op") is None
    assert "_Z5my_opPv" in caller.why_missing(None, "my_op")


def test_global_lookup_of_anything() -> None:
    with HostCaller(Here(), allow_global=True) as caller:
        found = caller.find_global("getpid")
        assert found is not None
        assert found.provider == "libc.so.6"
        pid = caller.call(found.function, Signature.PARAM, NULL, (0, 1)).code
        assert pid != os.getpid()


def test_a_library_sees_those_opened_before(caller: HostCaller) -> None:
    """AE-608: RTLD_GLOBAL."""
    assert caller.open(built("ops")).library
    assert caller.open(built("needs")).remarks == ()
    assert call(caller, "needs", "through").code == 201


def test_close(caller: HostCaller) -> None:
    """AE-610: afterwards constructors run again; the next call has what they print."""
    flag = '-DDO=printf("here\\n")'
    opened = caller.open(built("load", flag))
    assert opened.library is not None
    caller.close(opened.library)
    again = caller.open(built("load", flag))
    assert again.library is not None
    found = caller.find(again.library, "code_0")
    assert found is not None
    run = found.function
    assert caller.call(run, Signature.PARAM, NULL, (0, 1)).output == "here\nhere\n"
    assert caller.call(run, Signature.PARAM, NULL, (0, 1)).output == ""


def test_a_library_that_is_opened_twice(caller: HostCaller, tmp_path: Path) -> None:
    """AE-610: so managers open on their own; it stays until the last one closes it."""
    link = tmp_path / "libsame.so"
    link.symlink_to(built("ops"))
    library = caller.open(built("ops")).library
    assert library is not None
    assert caller.open(str(link)).library == library
    caller.close(library)
    assert caller.find(library, "my_op") is None
    assert "_Z5my_opPv" in caller.why_missing(library, "my_op")
    assert "_Z5my_opPv" in caller.why_missing(None, "my_op")
    found = caller.find(library, "code_501")
    assert found is not None
    assert caller.call(found.function, Signature.PARAM, NULL, (0, 1)).code == 501
    caller.close(library)
    assert caller.find_global("code_501") is None
    assert caller.why_missing(None, "my_op") == "no library that was opened exports my_op"


def refused(caller: HostCaller, path: Path | str) -> str:
    opened = caller.open(str(path))
    assert opened.library is None
    return opened.why


def test_what_is_no_library(caller: HostCaller, tmp_path: Path) -> None:
    """AE-1204, step 5: nothing of it is loaded, no child is started."""
    text = tmp_path / "text.so"
    text.write_text("not an ELF file\n")
    assert "not with the ELF magic" in refused(caller, text)
    arm = bytearray(Path(built("ops")).read_bytes())
    arm[18:20] = (183 if os.uname().machine != "aarch64" else 62).to_bytes(2, "little")
    other = tmp_path / "other.so"
    other.write_bytes(arm)
    assert refused(caller, other).startswith("it is for ")
    arm[4] = 1
    other.write_bytes(arm)
    assert "a 32-bit ELF file" in refused(caller, other)
    other.write_bytes(Path(built("ops")).read_bytes()[:500])
    assert "the library is cut off or damaged" in refused(caller, other)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert refused(caller, fifo) == "not a regular file"
    assert refused(caller, tmp_path) == "Is a directory"
    dangling = tmp_path / "dangling"
    dangling.symlink_to("nowhere")
    assert refused(caller, dangling) == "No such file or directory"
    assert "a program" in refused(caller, sys.executable)


def test_what_the_linker_refuses(caller: HostCaller, tmp_path: Path) -> None:
    """Status 11002 comes with its text, under the name that the library was asked by."""
    flags = ("-Wl,-z,now", "-Wl,--no-as-needed")
    why = refused(caller, built("needs", *flags))
    assert why.endswith("undefined symbol: code_201")
    gone = built("ops", "-DGONE", "-Wl,-soname,libgone.so", name="libgone.so")
    why = refused(caller, built("needs", gone, "-Wl,-rpath,/nowhere"))
    assert why.startswith("libgone.so: cannot open shared object file")

    class Rooted:
        def host_path(self, path: str) -> str:
            return built("needs", *flags) if path == "/usr/lib64/libop.so" else path

    with HostCaller(Rooted()) as other:
        assert refused(other, "/usr/lib64/libop.so").startswith("/usr/lib64/libop.so: undefined")


def test_lib_path() -> None:
    needs = built("needs", built("ops", "-Wl,-soname,libfar.so", name="libfar.so"))
    with HostCaller(Here()) as caller:
        assert refused(caller, needs)
    folder = str(Path(built("ops", "-Wl,-soname,libfar.so", name="libfar.so")).parent)
    with HostCaller(Here(), lib_path=[folder]) as caller:
        assert call(caller, "ops", "code_0").code == 0
        assert caller.open(needs).library


ENDS: Final = {
    "write_null": ("crashed in stage call with SIGSEGV", signal.SIGSEGV),
    "overflow_stack": ("crashed in stage call with SIGSEGV", signal.SIGSEGV),
    "divide": ("crashed in stage call with SIGFPE", signal.SIGFPE),
    "illegal": ("crashed in stage call with SIGILL", signal.SIGILL),
    "do_abort": ("crashed in stage call with SIGABRT", signal.SIGABRT),
    "hang_up": ("ended in stage call by SIGHUP", signal.SIGHUP),
    "use_up_cpu": ("exceeded limit: CPU time (in stage call)", signal.SIGXCPU),
    "large_file": ("exceeded limit: size of a file (in stage call)", signal.SIGXFSZ),
    "kill_itself": (
        "exceeded limit, or killed from outside: SIGKILL (in stage call)",
        signal.SIGKILL,
    ),
    "flood": ("exceeded limit: output (in stage call)", signal.SIGKILL),
    "write_everywhere": ("the op wrote into cannkit's result pipe in stage call", signal.SIGKILL),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_by_a_signal(name: str) -> None:
    what, number = ENDS[name]
    verdict = ends(name)
    assert (verdict.what, verdict.signal, verdict.exit) == (what, number, None)
    assert verdict.stage is Stage.CALL
    assert verdict.status is None


EXITS: Final = {
    "exit_0": ("the op terminated the process with code 0 in stage call", 0, "leaving\n"),
    "exit_3": ("the op terminated the process with code 3 in stage call", 3, ""),
    "exit_now": ("the op terminated the process with code 9 in stage call", 9, ""),
    "exit_127": ("the op terminated the process with code 127 in stage call", 127, ""),
    "close_everything": ("the op closed cannkit's result pipe in stage call", 113, ""),
    "fork_and_die": ("the op terminated the process with code 5 in stage call", 5, ""),
    "daemon_and_die": ("the op terminated the process with code 6 in stage call", 6, ""),
}


@pytest.mark.parametrize("name", EXITS)
def test_ends_by_an_exit(name: str) -> None:
    """What is forked holds the pipes open, and is ended with the rest."""
    what, code, output = EXITS[name]
    verdict = ends(name)
    assert (verdict.what, verdict.signal, verdict.exit) == (what, None, code)
    assert verdict.output == output
    assert verdict.seconds < 5


def test_hints_of_a_crash() -> None:
    hints = " ".join(ends("write_null").hints)
    assert hints.startswith("the parameter block is null wrong signature?")
    with HostCaller(Here()) as caller, pytest.raises(CallEndedError) as caught:
        call(caller, "harm", "write_null", block(1))
    assert "is null" not in " ".join(caught.value.verdict.hints)


@pytest.mark.parametrize("argument", [Argument(BASE), Argument(BASE, (Segment(BASE, b""),))])
def test_a_parameter_block_without_bytes(caller: HostCaller, argument: Argument) -> None:
    with pytest.raises(CallEndedError) as caught:
        call(caller, "harm", "print_and_crash", argument)
    assert "the parameter block has no bytes" in caught.value.verdict.hints[0]


def test_what_was_printed_before_a_crash() -> None:
    """All of it, in its order, whatever buffers."""
    assert ends("print_and_crash").output == "first\nsecond\nthird, without an end"


def test_undefined_symbol_at_call_time(caller: HostCaller) -> None:
    """Q-17: it is seen before, and named after."""
    opened = caller.open(built("needs"))
    assert opened.library is not None
    (remark,) = opened.remarks
    assert "code_201" in remark
    assert "no_such_thing" not in remark
    with pytest.raises(CallEndedError) as caught:
        call(caller, "needs", "through")
    verdict = caught.value.verdict
    assert verdict.what == "undefined symbol code_201 at call time (lazy binding)"
    assert verdict.exit == 127
    assert "symbol lookup error" in verdict.output


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("hang", signal.SIGTERM),
        ("fork_often", signal.SIGTERM),
        ("stubborn", signal.SIGKILL),
        ("stop_itself", signal.SIGKILL),
    ],
)
def test_timeouts(name: str, number: int) -> None:
    start = time.monotonic()
    verdict = ends(name, timeout=0.5)
    assert verdict.what == "timed out in stage call after 0.5 s"
    assert verdict.signal == number
    assert 0.5 <= verdict.seconds < 5
    assert time.monotonic() - start < 20


def test_a_pipe_that_is_closed_while_the_code_hangs() -> None:
    verdict = ends("close_and_hang")
    assert verdict.what == "the op closed cannkit's result pipe in stage call"
    assert verdict.seconds < 5


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("abort()", "crashed in stage load with SIGABRT"),
        ("exit(4)", "the op terminated the process with code 4 in stage load"),
        ("for (;;) pause()", "timed out in stage load after 0.5 s"),
    ],
)
def test_constructors(statement: str, what: str) -> None:
    """AE-1206: a stage of its own."""
    path = built("load", f"-DDO={statement}")
    with HostCaller(Here(), timeout=0.5 if "timed" in what else 10) as caller:
        with pytest.raises(CallEndedError) as caught:
            caller.open(path)
        verdict = caught.value.verdict
        assert verdict.what == what
        assert verdict.stage is Stage.LOAD
        assert any("constructors" in hint for hint in verdict.hints)
        with pytest.raises(CallEndedError) as again:  # nothing more can be called
            caller.open(built("ops"))
        assert again.value.verdict == verdict


def test_a_constructor_that_forks(caller: HostCaller) -> None:
    run = function(caller, "load", "code_0", "-DDO=fork()")
    assert caller.call(run, Signature.PARAM, NULL, (0, 1)).code == 0


def test_what_survives(caller: HostCaller) -> None:
    """Forked copies that return do not answer; files are closed only up to the limit."""
    assert call(caller, "harm", "fork_and_return").code == 4
    assert call(caller, "harm", "fork_and_sleep").code == 4
    assert call(caller, "harm", "close_up_to_limit").code == 2
    assert call(caller, "harm", "allocate_much").code == 12
    assert call(caller, "ops", "code_1099").code == 1099


def test_surroundings(caller: HostCaller, folder: Path) -> None:
    """AE-1205: session, environment, descriptors, working directory."""
    argument = Argument(BASE, (Segment(BASE, bytes(4096)),))
    returned = call(caller, "harm", "surroundings", argument)
    assert returned.code == 0
    place = Path(os.fsdecode(returned.segments[0].rstrip(b"\0")))
    assert place.parent == folder
    assert list(place.iterdir()) == []


def poke(caller: HostCaller, target: Segment, offset: int, *more: Segment) -> Returned:
    words = struct.pack("<qq", target.address, offset)
    argument = Argument(BASE, (Segment(BASE, words), target, *more))
    return call(caller, "ops", "poke", argument)


FAR: Final = BASE + 16 * PAGE


def test_overruns_within_a_page(caller: HostCaller) -> None:
    """Bytes that belong to no segment are looked at afterwards."""
    target = Segment(FAR + 64, bytes(24))
    assert poke(caller, target, 23).overruns == ()
    name = f"the segment at {FAR + 64:#x}"
    behind = f"1 byte behind {name} was written ({FAR + 64:#x}+0x18)"
    assert poke(caller, target, 24).overruns == (behind,)
    before = f"1 byte before {name} was written ({FAR + 64:#x}-0x1)"
    assert poke(caller, target, -1).overruns == (before,)
    own = Segment(BASE, struct.pack("<qq", BASE, 16))
    (text,) = call(caller, "ops", "poke", Argument(BASE, (own,))).overruns
    assert text == f"1 byte behind the parameter block was written ({BASE:#x}+0x10)"


def test_neighbours_in_a_page(caller: HostCaller) -> None:
    first, second = Segment(FAR, bytes(16)), Segment(FAR + 64, bytes(16))
    assert poke(caller, first, 17, second).overruns == (
        f"1 byte behind the segment at {FAR:#x} was written ({FAR:#x}+0x11)",
    )
    assert poke(caller, first, 62, second).overruns == (
        f"1 byte before the segment at {FAR + 64:#x} was written ({FAR + 64:#x}-0x2)",
    )
    constant = Segment(FAR + 64, bytes(16), is_writable=False)
    returned = poke(caller, first, 65, constant)
    assert returned.overruns == (
        f"1 byte of read-only memory in the segment at {FAR + 64:#x} was written ({FAR + 64:#x}+0x1)",
    )
    assert returned.segments[2] == bytes(16)


@pytest.mark.parametrize("offset", [-1, PAGE])
def test_guard_pages(caller: HostCaller, offset: int) -> None:
    with pytest.raises(CallEndedError) as caught:
        poke(caller, Segment(FAR, bytes(PAGE)), offset)
    assert caught.value.verdict.signal == signal.SIGSEGV


def test_read_only_memory(caller: HostCaller) -> None:
    with pytest.raises(CallEndedError, match="crashed in stage call with SIGSEGV"):
        poke(caller, Segment(FAR, bytes(8), is_writable=False), 0)


def test_memory_without_a_place(caller: HostCaller) -> None:
    """It is an error, and the next call is made."""
    page = struct.unpack("<q", call(caller, "ops", "whereabouts", block(0)).segments[0])[0]
    for address, why in (
        (0x1000, "nothing is mapped below 0x10000"),
        (page, "the address is taken"),
        (1 << 56, "no process has such an address"),
        ((1 << 64) - 8, "no process has such addresses"),
        (BASE + 8, f"it overlaps the segment at {BASE:#x}"),
    ):
        argument = Argument(BASE, (Segment(BASE, bytes(16)), Segment(address, bytes(8))))
        with pytest.raises(InputError, match="cannot place memory") as caught:
            call(caller, "ops", "code_0", argument)
        assert why in caught.value.why
        assert caught.value.where == f"the segment at {address:#x}" or address == BASE + 8
    assert call(caller, "ops", "code_0", block(1)).code == 0
    nothing = Argument(BASE, (Segment(BASE, b""), Segment(FAR, bytes(8))))
    assert call(caller, "ops", "code_0", nothing).segments == (b"", bytes(8))


def test_memory_limit() -> None:
    with HostCaller(Here(), memory=64 << 20) as caller:
        assert call(caller, "ops", "code_0").code == 0
        argument = Argument(BASE, (Segment(BASE, bytes(80 << 20)),))
        with pytest.raises(CallEndedError, match="exceeded limit: memory"):
            call(caller, "ops", "code_0", argument)


def test_interrupt(folder: Path) -> None:
    """Ctrl-C ends the child, and passes."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    with HostCaller(Here()) as caller:
        run = function(caller, "harm", "hang")
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            caller.call(run, Signature.PARAM, NULL, (0, 1))
        assert processes(folder) == []
        with pytest.raises(CallEndedError, match="the process was ended before"):
            caller.call(run, Signature.PARAM, NULL, (0, 1))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_nothing_is_asked_after_the_end(caller: HostCaller) -> None:
    run = function(caller, "ops", "code_0")
    caller.end()
    caller.end()
    for ask in (
        lambda: caller.call(run, Signature.PARAM, NULL, (0, 1)),
        lambda: caller.open(built("ops")),
        lambda: caller.find(1, "code_0"),
        lambda: caller.find_global("code_0"),
        lambda: caller.close(1),
    ):
        with pytest.raises(CallEndedError) as caught:
            ask()
        verdict = caught.value.verdict
        assert verdict.what == "the process was ended before"
        assert (verdict.exit, verdict.signal, verdict.is_timeout) == (None, None, False)


def test_the_verdict_on_a_crash_stays_after_the_end() -> None:
    with HostCaller(Here()) as caller:
        run = function(caller, "harm", "exit_3")
        for _ in range(2):
            with pytest.raises(CallEndedError, match="with code 3"):
                caller.call(run, Signature.PARAM, NULL, (0, 1))
            caller.end()


def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    code = """
import sys
from cannkit.ae.caller import Signature
from cannkit.ae.event import NULL
from cannkit.ae.host_caller import HostCaller
from tests.ae.library import Here
caller = HostCaller(Here(), timeout=60)
opened = caller.open(sys.argv[1])
found = caller.find(opened.library, "hang")
print("ready", flush=True)
caller.call(found.function, Signature.PARAM, NULL, (0, 1))
"""
    place = tmp_path / "parent"
    place.mkdir()
    env = {**os.environ, "TMPDIR": str(place)}
    command = [sys.executable, "-c", code, built("harm")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        assert processes(place) != []
        parent.kill()
    until = time.monotonic() + 5
    while processes(place) and time.monotonic() < until:
        time.sleep(0.01)
    assert processes(place) == []


def test_without_close(folder: Path) -> None:
    """A child ends with the last reference to its caller."""
    caller = HostCaller(Here())
    assert caller.open(built("ops")).library
    assert processes(folder) != []
    del caller
    assert processes(folder) == []


def test_values_that_make_no_sense(monkeypatch: pytest.MonkeyPatch) -> None:
    for timeout in (0, -1, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="bad timeout"):
            HostCaller(Here(), timeout=timeout)
    with pytest.raises(UsageError, match="bad memory limit"):
        HostCaller(Here(), memory=1 << 20)
    for place in ("", "/a:/b", "/a;b"):
        with pytest.raises(UsageError, match="bad folder"):
            HostCaller(Here(), lib_path=[place])
    monkeypatch.setattr(sys, "executable", None)
    with pytest.raises(UsageError, match="own interpreter"):
        HostCaller(Here())
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(InputError, match="cannot start a process"):
        HostCaller(Here()).open(built("ops"))
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="needs Linux"):
        HostCaller(Here())


def test_an_interpreter_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(CallEndedError, match="did not start: it ended with code 1") as caught:
        HostCaller(Here()).open(built("ops"))
    assert caught.value.verdict.stage is Stage.START


def test_this_process_imports_no_ctypes() -> None:
    code = "import sys; import cannkit.ae.host_caller, cannkit.ae.callers; print('ctypes' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"False\n"


def test_it_is_quick() -> None:
    """Start, load, look up, call, end: the best of some, for the machine is shared."""
    path, best = built("ops"), 10.0
    for _ in range(5):
        start = time.perf_counter()
        with HostCaller(Here()) as caller:
            library = caller.open(path).library
            assert library is not None
            assert caller.find(library, "code_0") == Found(1)
            assert caller.call(1, Signature.PARAM, NULL, (0, 1)).code == 0
        best = min(best, time.perf_counter() - start)
    assert best < 0.25
