"""Code of the user's in this process: how long it runs, and what it does to the process undone."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any, Final, ParamSpec, TextIO, TypeVar

from cannkit.device.executor import HostModelTimeout
from cannkit.errors import UsageError, brief

P = ParamSpec("P")
T = TypeVar("T")

OURS: Final = os.path.dirname(os.path.dirname(__file__)) + os.sep
PYTHONS: Final = os.path.dirname(os.__file__) + os.sep
NOBODYS: Final = (OURS, f"{PYTHONS}importlib{os.sep}", "<")
STREAMS: Final = ("stdout", "stderr", "__stdout__", "__stderr__")
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGALRM)
TIME_UP: Final = getattr(signal, "SIGRTMAX", signal.SIGUSR2)  # one that nobody else uses
AGAIN: Final = 0.1  # seconds until code that catches its end is told again
LONGEST: Final = 400  # characters of an exception
MOST_SECONDS: Final = 1e6


class _TimeUpError(BaseException):
    """Goes through code that catches every Exception."""


class ForeignError(Exception):
    """An exception of foreign code in plain text: none of that code runs when it is told.

    Its kinds bear the names of the exceptions that they stand for. `place` is `file:line`, if known.
    """

    place: str | None = None


class ForeignCode:
    """Runs code of the user's: `seconds` of wall clock for all of it together. Changes.

    It runs in a `with` block in the main thread. Until the end of the block standard output is standard
    error, for Python and for what is below it; then streams and signals are as they were.
    Raises UsageError for no time at all.
    """

    def __init__(self, seconds: float) -> None:
        if not 0 < seconds <= MOST_SECONDS:
            raise UsageError(f"--model-timeout {seconds:g}: takes seconds, more than 0, up to 1e6")
        self._seconds = self._left = seconds
        self._deadline = 0.0
        self._depth = sys.getrecursionlimit()
        self._alarm = self._ring  # one bound method, to be known again
        self._inside = False
        self._ours: dict[str, Any] | None = None
        self._stderr = 2, 2  # the file descriptor, and one that keeps what it leads to
        self._undo = ExitStack()

    def __enter__(self) -> None:
        with ExitStack() as undo:
            self._hide_stdout(undo)
            self._keep_signals(undo)
            self._start_clock(undo)
            undo.callback(_end_child, os.getpid())
            self._undo = undo.pop_all()

    def __exit__(self, *exception: object) -> None:
        self._undo.close()

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a foreign function gives back.

        Raises KeyboardInterrupt, HostModelTimeout, and ForeignError for any other exception.
        """
        failure: ForeignError | None = None
        try:
            self._inside = True
            try:
                self._check_clock()
                result = function(*args, **kwargs)
            except (KeyboardInterrupt, _TimeUpError):
                raise
            except BaseException as error:
                self._restore()
                failure = _plain(error, sys.exc_info()[2])
            finally:
                self._inside = False
                self._restore()
            self._check_clock()  # it may have caught its end
        except _TimeUpError as stop:
            self._inside = False
            why = f"it takes more than {self._seconds:g} s"
            raise HostModelTimeout(why).with_traceback(stop.__traceback__) from None
        if failure is not None:
            raise failure
        return result

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Our own streams again, for a line of ours in the midst of foreign code."""
        if self._ours is None:
            yield
            return
        theirs = _streams()
        descriptor, kept = self._stderr
        os.dup2(kept, descriptor)
        vars(sys).update(self._ours)
        try:
            yield
        finally:
            vars(sys).update(theirs)

    def _restore(self) -> None:
        """What would fail our own code between two calls."""
        if sys.getrecursionlimit() != self._depth:
            sys.setrecursionlimit(self._depth)
        if signal.getsignal(signal.SIGALRM) is not self._alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._alarm)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        """SIGALRM of nobody's, which would end the process."""
        if self._inside:
            raise RuntimeError("SIGALRM, and it has no handler for it")

    def _check_clock(self) -> None:
        if time.monotonic() > self._deadline:
            raise _TimeUpError

    def _hide_stdout(self, undo: ExitStack) -> None:
        ours = _streams()
        descriptors = []
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            descriptors.append(stream.fileno())
        out, err = descriptors
        for descriptor in descriptors:
            kept = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
            undo.callback(os.close, kept)
            undo.callback(os.dup2, kept, descriptor)
        self._stderr = err, kept

        def show() -> None:
            self._ours = None
            vars(sys).update(ours)

        undo.callback(show)
        theirs = [_stand_in(err), _stand_in(err)]
        for stream in theirs:
            undo.callback(_flush, stream)
        os.dup2(err, out)
        self._ours = ours
        vars(sys).update(zip(STREAMS, theirs * 2, strict=True))

    def _keep_signals(self, undo: ExitStack) -> None:
        """Afterwards handlers are as they were, and no timer of somebody else's runs out."""
        for number in (*SIGNALS, TIME_UP):
            handler = signal.getsignal(number)
            if handler is not None:  # None: one that is not Python's
                undo.callback(signal.signal, number, handler)
        undo.callback(signal.setitimer, signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._alarm)
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        undo.callback(signal.pthread_sigmask, signal.SIG_SETMASK, mask)

    def _start_clock(self, undo: ExitStack) -> None:
        """A thread sends a signal: a timer does so by one that host models use themselves.

        Code that stays outside Python, as a long call of numpy, is interrupted when it comes back.
        """
        done, main, begin = threading.Event(), threading.get_ident(), time.monotonic()
        self._deadline = begin + self._left

        def tell(number: int, frame: FrameType | None) -> None:
            if self._inside:
                raise _TimeUpError

        def watch() -> None:
            wait = self._left
            while not done.wait(wait):
                wait = AGAIN
                if signal.getsignal(TIME_UP) is tell:  # else it would end the process
                    signal.pthread_kill(main, TIME_UP)

        def stop() -> None:
            done.set()
            clock.join()
            self._left = max(self._deadline - time.monotonic(), 0)

        clock = threading.Thread(target=watch, daemon=True)
        signal.signal(TIME_UP, tell)
        clock.start()
        undo.callback(stop)


def place_of(error: BaseException | None) -> str | None:
    """`file:line` of the innermost frame of an exception in code of the user's; None for none."""
    if isinstance(error, ForeignError):
        return error.place
    return None if error is None else _place(error.__traceback__)


def _place(trace: TracebackType | None) -> str | None:
    # not extract_tb, which reads the files that the code says it is from
    places = [(frame.f_code.co_filename, line) for frame, line in walk_tb(trace)]
    places = [each for each in places if not each[0].startswith(NOBODYS)]
    own = [each for each in places if not _is_installed(each[0])] or places
    if not own:
        return None
    file, line = own[-1]
    return f"{file}:{line}" if line else file


def _is_installed(file: str) -> bool:
    return file.startswith(PYTHONS) or "-packages" in file


def _plain(error: BaseException, trace: TracebackType | None) -> ForeignError:
    """What an exception says, by its own code: as much of it as comes without another failure."""
    from cannkit.report.base import printable, safe

    name, text, place = "exception", "", None
    try:
        place = _place(trace)
        kind = type(error)
        name = safe(printable(brief(_line(kind.__name__))))
        if issubclass(kind, SystemExit):
            text = f"it asks to end the process with {getattr(error, 'code', None)!r}"
        elif issubclass(kind, SyntaxError) and getattr(error, "filename", None):
            text, file, line = (getattr(error, each) for each in ("msg", "filename", "lineno"))
            place = f"{file}:{line or 1}"
        else:
            text = str(error)
        text = brief(_line(text), LONGEST)
    except (KeyboardInterrupt, _TimeUpError):
        raise
    except BaseException:
        text = ""
    named: type[ForeignError] = type(name, (ForeignError,), {})
    failure = named(text)
    failure.place = place
    return failure


def _line(text: str) -> str:
    """A text on one line, as a str and no kind of it that runs foreign code."""
    return " ".join(str.split(text))


def _streams() -> dict[str, Any]:
    return {name: vars(sys).get(name) for name in STREAMS}


def _stand_in(descriptor: int) -> TextIO:
    return open(descriptor, "w", 1, "utf-8", "backslashreplace", closefd=False)


def _flush(stream: TextIO) -> None:
    with suppress(OSError, ValueError):  # closed, or nobody reads it
        stream.flush()


def _end_child(parent: int) -> None:
    """A process that foreign code has forked has nothing to answer."""
    if os.getpid() != parent:
        os._exit(0)
