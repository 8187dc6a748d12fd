"""OpCaller: hands the blocks of a traced call to the runner. Spec 07, OPR-1301."""

from __future__ import annotations

from cannkit.ae.caller import CallEndedError, Found, Opened, Returned, Signature, Verdict
from cannkit.ae.event import Argument
from cannkit.ops.call import PARAM, Prepared
from cannkit.ops.caller import KINDS, after_of, spans_of
from cannkit.ops.errors import CannotRunError
from cannkit.ops.job import Job, JobCall
from cannkit.ops.runner import Outcome
from cannkit.ops.session import OpSession


class OpCaller:
    """A Caller that hands blocks to the runner, with the memory that they point to. Changes.

    `outcomes` are those of the calls, `verdict` how the last one ended its process, `error` why it was not
    made at all.
    """

    def __init__(self, session: OpSession, prepared: Prepared) -> None:
        self.outcomes: list[Outcome] = []
        self.overruns: list[tuple[int, str]] = []
        self.addresses: dict[int, int] = {}
        self.extents: dict[int, int] = {}
        self.verdict: Verdict | None = None
        self.error: CannotRunError | None = None
        self._session = session
        self._prepared = prepared
        self._names: list[str] = []

    def open(self, path: str) -> Opened:
        """See Caller: the runner loads it when it is called."""
        return Opened(1)

    def close(self, library: int) -> None:
        """See Caller."""

    def find(self, library: int, name: str) -> Found | None:
        """See Caller."""
        self._names.append(name)
        return Found(len(self._names) - 1)

    def find_global(self, name: str) -> Found | None:
        """See Caller."""
        return None

    def why_missing(self, library: int | None, name: str) -> str:
        """See Caller."""
        return ""

    def call(
        self, function: int, signature: Signature, argument: Argument, block: tuple[int, int]
    ) -> Returned:
        """See Caller. Raises CannotRunError where it cannot be run here."""
        spans = spans_of(argument)
        call = JobCall(None, KINDS[signature], block[1], block[0], argument.address)
        regions = tuple(span.region() for span in spans)
        name, level = self._names[function], self._session.log_level
        job = Job(self._session.library, name, regions, calls=(call,), log_level=level)
        try:
            outcome = self._session.run_job(job)
        except CannotRunError as error:
            self.error = error
            raise
        self.outcomes.append(outcome)
        names = dict(enumerate(self._name(span.start) for span in spans))
        self.verdict = outcome.verdict(self._session.timeout, names.__getitem__)
        if self.verdict is not None:
            raise CallEndedError(self.verdict)
        for each in outcome.overruns:
            place = self._region_at(spans[each.region].start)
            self.overruns.append((place, f"{each.size} bytes {each.where} it were written"))
        after = dict(after_of(spans, outcome))
        segments = tuple(after.get(at, each.data) for at, each in enumerate(argument.segments))
        code = outcome.calls[0].ret
        assert code is not None  # the run is whole
        nothing = ()  # no device sees an overrun: the result tells it
        return Returned(code, segments, nothing, outcome.printed)

    def _region_at(self, address: int) -> int:
        return next((each for each, at in self.addresses.items() if at == address), PARAM)

    def _name(self, address: int) -> str:
        return self._prepared.region_name(self._region_at(address))
