"""CustSoWriter, on disk and in memory: the rows of spec 05, 10.4, and what is in the way of a file."""

from __future__ import annotations

import os
import resource
from time import perf_counter
from typing import TYPE_CHECKING, Final

import pytest

from cannkit.ae.caller import Opened
from cannkit.ae.context import CUST_PATH, HOME, AeContext
from cannkit.ae.install import CustSoWriter, fresh_tree
from cannkit.ae.so_path import read_settings
from cannkit.ae.so_walk import resolve
from cannkit.ae.write_rules import StepKind, Written, write_root
from cannkit.errors import OutputError
from cannkit.format.ae_status import AeStatus, RunMode
from cannkit.format.cpu_kernel import CpuKernelType
from cannkit.inputs.memory_tree import MemoryTree
from cannkit.inputs.real_path import Kind, Link
from cannkit.inputs.rooted import RootedFiles
from cannkit.inputs.rooted_writer import RootedWriter
from cannkit.inputs.writable import Overlay
from cannkit.runtime.so_name import fnv1a

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from cannkit.inputs.writable import WritableView

    Tree = Mapping[str, bytes | Link | None]
    Grow = Callable[[Tree], WritableView]

R: Final = "/home/CustAiCpuUser/"
F: Final = f"{R}cust_aicpu_0_0_123/"
A, B = b"AAAA", b"BBBB"
PCIE: Final = AeContext(pid=123)
USER: Final = {HOME: "/home/u"}
SOCKET: Final = AeContext(RunMode.SOCKET, pid=123, env=USER)
THREAD: Final = AeContext(RunMode.THREAD, pid=123, env=USER)
NO_HOME: Final[Mapping[str, str]] = {}


def planted(root: Path, tree: Tree) -> None:
    for path, node in tree.items():
        place = root / path[1:]
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(node, Link):
            place.symlink_to(node.target)
        elif node is None:
            place.mkdir(exist_ok=True)
        else:
            place.write_bytes(node)


def snapshot(root: Path) -> list[tuple[str, int, int]]:
    states = [(place, place.lstat()) for place in sorted(root.rglob("*"))]
    return [(str(place), state.st_mode, state.st_mtime_ns) for place, state in states]


@pytest.fixture(params=["disk", "dry", "memory"])
def grow(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Grow]:
    """Makes a tree that can be changed; of the dry one, the disk under it must not change."""
    before: list[list[tuple[str, int, int]]] = []

    def make(tree: Tree) -> WritableView:
        if request.param == "memory":
            return Overlay(MemoryTree(tree))
        planted(tmp_path, tree)
        if request.param == "disk":
            return RootedWriter(str(tmp_path))
        before.append(snapshot(tmp_path))
        return Overlay(RootedFiles(str(tmp_path)))

    yield make
    for state in before:
        assert snapshot(tmp_path) == state


@pytest.fixture
def pcie(grow: Grow) -> CustSoWriter:
    return CustSoWriter(PCIE, grow({f"{R}lib": None}))


def kinds(written: Written) -> str:
    """The steps, in short."""
    return " ".join(step.kind for step in written.steps)


def refused(written: Written) -> tuple[int, str]:
    """The status, and what was done before."""
    assert written.steps[-1].kind is StepKind.REFUSE
    return written.status, kinds(written).rpartition(" ")[0]


def found(writer: CustSoWriter, name: str) -> str | None:
    """What the engine opens, with the same view."""
    context = writer.context._replace(is_cust_sd=True)
    settings, custom = read_settings(context), CpuKernelType.AICPU_CUSTOM
    story = resolve(custom, name, settings, context, writer.files, lambda _: Opened(1))
    assert (story.status == AeStatus.SUCCESS) == (story.loaded is not None)
    return story.loaded


def content(writer: CustSoWriter, name: str) -> bytes | None:
    return writer.files.read(writer.folder + name, 99)


class TestPcie:
    def test_w1(self, pcie: CustSoWriter, tmp_path: Path) -> None:
        file = f"{R}lib/libmy.so.0.0.123"
        assert pcie.create(b"libmy.so", A) == (
            0,
            (
                (StepKind.LOCK, f"{R}lib_locker", "absent, so nothing is locked", None, None, None),
                (StepKind.WRITE, file, "4 bytes", None, 4, None),
                (StepKind.CHMOD, file, "0640", 0o640, None, None),
                (StepKind.MKDIR, F, "0750", 0o750, None, None),
                (StepKind.SYMLINK, f"{F}libmy.so", f"leads to {file}", None, None, file),
            ),
            (),
        )
        assert pcie.files.look(f"{F}libmy.so") == Link(file)
        assert content(pcie, "libmy.so") == A
        assert found(pcie, "libmy.so") == file
        if isinstance(pcie.files, RootedWriter):
            assert (tmp_path / F[1:]).stat().st_mode & 0o7777 == 0o750
            assert (tmp_path / file[1:]).stat().st_mode & 0o7777 == 0o640

    def test_w2_to_w6(self, pcie: CustSoWriter) -> None:
        """W-3 keeps old content, W-4 shares the wrong file (Q-20)."""
        file = f"{R}lib/libmy.so.0.0.123"
        pcie.create("libmy.so", A)
        second = pcie.create("libother.so", A)
        assert (second.status, kinds(second)) == (0, "lock share symlink")
        assert (second.steps[1].target, second.remarks) == (file, ())
        third = pcie.create("libmy.so", B)
        assert (third.status, kinds(third)) == (0, "lock keep keep")
        assert third.remarks == (f"Q-20: {file} keeps its old content",)
        assert content(pcie, "libmy.so") == A
        fourth = pcie.create("libthird.so", B)
        assert (fourth.status, kinds(fourth)) == (0, "lock share symlink")
        assert fourth.remarks == (f"Q-20: {file} counts as this content, but has other bytes",)
        assert content(pcie, "libthird.so") == A

        other = CustSoWriter(PCIE._replace(pid=456), pcie.files)
        fifth = other.create("libmy.so", A)
        assert (fifth.status, kinds(fifth)) == (0, "lock share mkdir symlink")
        assert other.files.look(f"{R}cust_aicpu_0_0_456/libmy.so") == Link(file)
        assert found(other, "libmy.so") == file

        sixth = pcie.delete(b"libmy.so")
        assert (sixth.status, kinds(sixth)) == (0, "chmod unlink")
        assert f"{F} counts as empty, but cannot be removed: libother.so" in sixth.remarks
        assert pcie.files.look(f"{F}libmy.so") is None
        assert pcie.files.read(file, 9) == A
        assert content(pcie, "libother.so") == A
        again = pcie.delete("libmy.so")
        assert (again.status, again.steps, len(again.remarks)) == (0, (), 1)

    def test_another_process_does_not_know_the_poison(self, pcie: CustSoWriter) -> None:
        """Q-20: what counts as stored is forgotten with the process, files are compared anew."""
        pcie.create("libmy.so", A)
        pcie.create("libmy.so", B)
        other = CustSoWriter(PCIE, pcie.files)
        assert kinds(other.create("libthird.so", B)) == "lock write chmod symlink"
        assert content(other, "libthird.so") == B

    def test_a_refused_write_blocks_its_content(self, grow: Grow) -> None:
        """Q-20: the second time the folder is there, the content still counts as stored."""
        writer = CustSoWriter(PCIE, grow({"/home": None}))
        assert refused(writer.create("libmy.so", A)) == (21008, "lock")
        writer.files.mkdir(R[:-1], 0o750)
        blocked = writer.create("libmy.so", A)
        assert refused(blocked) == (21008, "lock")
        assert blocked.remarks[0].startswith(f"Q-20: this content counts as stored in {R}lib/libmy")
        assert kinds(writer.create("libmy.so", B)) == "lock mkdir write chmod mkdir symlink"

    def test_last_one_removes_the_folder(self, pcie: CustSoWriter) -> None:
        pcie.create("libmy.so", A)
        assert kinds(pcie.delete("libmy.so")) == "chmod unlink rmdir"
        assert pcie.files.real_path(F) is None
        assert pcie.files.real_path(f"{R}lib/libmy.so.0.0.123") is not None

    def test_vf_and_device(self, grow: Grow) -> None:
        context = AeContext(device=40, vf=40, pid=-1)
        writer = CustSoWriter(context, grow({"/home/CustAiCpuUser5/lib_locker": b""}))
        written = writer.create("libmy.so", A)
        assert (writer.root, writer.folder) == (
            "/home/CustAiCpuUser5/",
            "/home/CustAiCpuUser5/cust_aicpu_40_40_-1/",
        )
        assert kinds(written) == "lock mkdir write chmod mkdir symlink"
        assert written.steps[0].text == "held with flock"
        assert found(writer, "libmy.so") == "/home/CustAiCpuUser5/lib/libmy.so.40.40.-1"

    def test_symlinked_root(self, grow: Grow) -> None:
        """M8; AE-906."""
        writer = CustSoWriter(PCIE, grow({"/data": None, R[:-1]: Link("/data")}))
        assert refused(writer.create("libmy.so", A)) == (21001, "lock mkdir")
        assert writer.files.entries("/data/lib") == ()

    def test_the_file_a_link_led_to_is_gone(self, pcie: CustSoWriter) -> None:
        pcie.create("libmy.so", A)
        pcie.files.unlink(f"{R}lib/libmy.so.0.0.123")
        assert pcie.delete("libmy.so").steps == ()
        assert refused(pcie.create("libother.so", A)) == (21008, "lock")
        fresh = CustSoWriter(PCIE, pcie.files)
        fresh.create("libother.so", B)
        assert refused(fresh.create("libmy.so", B)) == (21008, "lock share")

    def test_name_is_taken(self, pcie: CustSoWriter) -> None:
        """It keeps leading to what it led to."""
        pcie.create("liba.so", A)
        pcie.create("libb.so", B)
        written = pcie.create("liba.so", B)
        assert (written.status, kinds(written)) == (0, "lock share keep")
        assert written.remarks == (
            f"Q-20: {F}liba.so stays what it was, it does not lead to {R}lib/libb.so.0.0.123",
        )

    def test_dot(self, pcie: CustSoWriter) -> None:
        """W-11: `.` is there already. In PCIe mode its file is not."""
        assert kinds(pcie.create(".", A)) == "lock write chmod mkdir keep"
        assert pcie.files.read(f"{R}lib/..0.0.123", 9) == A
        assert refused(pcie.delete(".")) == (21008, "chmod")


class TestOtherModes:
    def test_w7(self, grow: Grow) -> None:
        writer = CustSoWriter(SOCKET._replace(vf=40), grow({"/home/u": None, "/home/u5": None}))
        written = writer.create("libmy.so", A)
        assert (written.status, kinds(written)) == (0, "mkdir write chmod")
        assert writer.files.read("/home/u/cust_aicpu_0_40_123/libmy.so", 9) == A
        assert found(writer, "libmy.so") is None  # M1

    @pytest.mark.parametrize(
        "context",
        [
            SOCKET._replace(env=NO_HOME),
            SOCKET._replace(env={HOME: ""}),
            SOCKET._replace(env={HOME: "/" + "u" * 1023}),
            THREAD._replace(env=NO_HOME),
            THREAD._replace(env={**USER, CUST_PATH: ""}),
        ],
    )
    def test_w8(self, grow: Grow, context: AeContext) -> None:
        writer = CustSoWriter(context, grow({"/home/u": None}))
        assert (writer.root, writer.folder) == ("", "cust_aicpu_0_0_123/")
        assert refused(writer.create("libmy.so", A)) == (21001, "mkdir")
        assert writer.files.look("/cust_aicpu_0_0_123") is Kind.DIRECTORY

    @pytest.mark.parametrize("tree", [{}, {"/home/u": b""}, {"/home/u": Link("u")}])
    def test_w9(self, grow: Grow, tree: Tree) -> None:
        writer = CustSoWriter(SOCKET, grow(tree))
        assert refused(writer.create("libmy.so", A)) == (21008, "")

    @pytest.mark.parametrize("context", [SOCKET, THREAD])
    def test_w10(self, grow: Grow, context: AeContext) -> None:
        writer = CustSoWriter(context, grow({"/data": None, "/home/u": Link("../data")}))
        assert refused(writer.create("libmy.so", A)) == (21001, "mkdir")
        assert writer.files.entries("/data/cust_aicpu_0_0_123") == ()

    @pytest.mark.parametrize(
        "home", ["u", "./u", "/home/./u", "/home//u", "/u/../home/u", "/home/u//"]
    )
    def test_homes_that_are_not_canonical(self, grow: Grow, home: str) -> None:
        tree: Tree = {"/home/u": None, "/u": None}
        writer = CustSoWriter(SOCKET._replace(env={HOME: home}), grow(tree))
        assert refused(writer.create("libmy.so", A)) == (21001, "mkdir")

    @pytest.mark.parametrize("home", ["/home/u", "/home/u/", "/"])
    def test_thread(self, grow: Grow, home: str) -> None:
        """AE-904: in thread mode the library is loaded at once, what is there is kept."""
        context = THREAD._replace(env={HOME: home})
        writer = CustSoWriter(context, grow({"/home/u": None}))
        first, second = writer.create("libmy.so", A), writer.create("libmy.so", B)
        path = f"{writer.folder}libmy.so"
        assert (first.status, kinds(first)) == (0, "mkdir write chmod load")
        assert first.steps[-1][:3] == (StepKind.LOAD, path, "aeBatchLoadKernelSo(4, libmy.so)")
        assert (second.status, kinds(second)) == (0, "keep load")
        assert second.remarks == (f"Q-20: {path} keeps its old content",)
        assert writer.create("libmy.so", A).remarks == ()
        assert found(writer, "libmy.so") == path
        assert kinds(writer.delete("libmy.so")) == "chmod unlink rmdir"

    @pytest.mark.parametrize(("left", "in_the_way"), [(".hidden", 1), ("sub", 0)])
    def test_what_counts_when_a_folder_is_removed(
        self, grow: Grow, left: str, in_the_way: int
    ) -> None:
        """AE-907: files and directories do, unless hidden; what does not count is in the way."""
        writer = CustSoWriter(SOCKET, grow({f"/home/u/cust_aicpu_0_0_123/{left}": None}))
        writer.create("libmy.so", A)
        deleted = writer.delete("libmy.so")
        assert (deleted.status, kinds(deleted)) == (0, "chmod unlink")
        assert sum("cannot be removed" in remark for remark in deleted.remarks) == in_the_way

    def test_the_variable_of_the_cache(self, grow: Grow) -> None:
        env = {**USER, CUST_PATH: "/data/c"}
        writer = CustSoWriter(THREAD._replace(env=env), grow({"/data/c": None}))
        assert writer.create("libmy.so", A).status == 0
        assert found(writer, "libmy.so") == "/data/c/cust_aicpu_0_0_123/libmy.so"

    def test_content_is_shared_in_pcie_mode_only(self, grow: Grow) -> None:
        writer = CustSoWriter(SOCKET, grow({"/home/u": None}))
        writer.create("liba.so", A)
        assert kinds(writer.create("libb.so", A)) == "write chmod"


@pytest.mark.parametrize(
    ("context", "root"),
    [
        (AeContext(), "/home/CustAiCpuUser/"),
        (AeContext(vf=31, env=NO_HOME), "/home/CustAiCpuUser31/"),
        (AeContext(vf=33, env={CUST_PATH: "/c"}), "/home/CustAiCpuUser1/"),
        (SOCKET._replace(env={HOME: "/u", CUST_PATH: "/c"}), "/u/"),
        (THREAD._replace(env={HOME: "/u", CUST_PATH: "/c"}), "/c/"),
        (THREAD._replace(env={HOME: "/u", CUST_PATH: "/c/"}), "/c/"),
        (THREAD._replace(env={HOME: "/u", CUST_PATH: "/" + "c" * 1022}), f"/{'c' * 1022}/"),
        (THREAD._replace(env={HOME: "/u", CUST_PATH: "/" + "c" * 1023}), "/u/"),
        (THREAD._replace(env={HOME: "/u", CUST_PATH: "/" + "ü" * 512}), "/u/"),
    ],
)
def test_roots(context: AeContext, root: str) -> None:
    """AE-901, M3, M4."""
    assert write_root(context) == root


class TestNames:
    """AE-904, W-11."""

    @pytest.mark.parametrize(
        "name",
        [
            None,
            b"",
            "",
            "x" * 129,
            b"x" * 129,
            "../x.so",
            b"a\0.so",
            "a b",
            "libü.so",
            b"\xff",
            "\n",
            "a\n",
        ],
    )
    def test_refused(self, grow: Grow, name: bytes | str | None) -> None:
        tree: Tree = {"/home/u": None, R[:-1]: None}
        view = grow(tree)
        for context in (PCIE, SOCKET, THREAD):
            writer = CustSoWriter(context, view)
            assert refused(writer.create(name, A)) == (21001, "")
            assert refused(writer.delete(name)) == (21001, "")

    @pytest.mark.parametrize("context", [PCIE, SOCKET, THREAD])
    def test_longest(self, grow: Grow, context: AeContext) -> None:
        writer = CustSoWriter(context, grow({"/home/u": None, R[:-1]: None}))
        assert writer.create(b"x" * 128, A).status == 0
        assert content(writer, "x" * 128) == A

    @pytest.mark.parametrize("data", [None, b""])
    def test_no_content(self, grow: Grow, data: bytes | None) -> None:
        writer = CustSoWriter(PCIE, grow({R[:-1]: None}))
        assert refused(writer.create("libmy.so", data)) == (21001, "")

    @pytest.mark.parametrize("name", [".", ".."])
    def test_dots(self, grow: Grow, name: str) -> None:
        writer = CustSoWriter(SOCKET, grow({"/home/u": None}))
        written = writer.create(name, A)
        assert (written.status, kinds(written)) == (0, "mkdir keep")
        assert refused(writer.delete(name)) == (21008, "chmod")

    def test_ids_that_are_too_long_for_a_file(self, grow: Grow) -> None:
        view = grow({"/home/u": None, R[:-1]: None})
        for context in (PCIE, SOCKET):
            writer = CustSoWriter(context._replace(pid=10**255), view)
            assert writer.create("libmy.so", A).status == 21008
        writer = CustSoWriter(PCIE._replace(pid=10**4100), view)
        assert writer.create("libmy.so", A).status == 21008
        assert writer.delete("libmy.so").steps == ()


class TestInTheWay:
    """What lies where a file or a folder should go."""

    folder = "/home/u/cust_aicpu_0_0_123"

    def test_directory(self, grow: Grow) -> None:
        writer = CustSoWriter(SOCKET, grow({f"{self.folder}/libmy.so": None}))
        written = writer.create("libmy.so", A)
        assert (written.status, kinds(written), len(written.remarks)) == (0, "keep", 1)
        assert refused(writer.delete("libmy.so")) == (21008, "chmod")

    def test_folder_is_a_file(self, grow: Grow) -> None:
        writer = CustSoWriter(SOCKET, grow({self.folder: b""}))
        assert refused(writer.create("libmy.so", A)) == (21008, "")
        assert writer.delete("libmy.so").steps == ()

    @pytest.mark.parametrize("context", [PCIE, SOCKET])
    def test_dangling_links(self, grow: Grow, context: AeContext) -> None:
        """Nothing is written through them."""
        folders = (self.folder, F[:-1])
        tree = {f"{folder}/libmy.so": Link("/new") for folder in folders}
        writer = CustSoWriter(context, grow({**tree, f"{R}lib": None}))
        status, _ = refused(writer.create("libmy.so", A))
        assert (status, writer.files.look("/new")) == (21008, None)

    def test_links_out_of_the_root(self, tmp_path: Path) -> None:
        root, outside = tmp_path / "root", tmp_path / "outside"
        outside.mkdir()
        planted(
            root,
            {
                "/home/u": Link(str(outside)),
                "/home/CustAiCpuUser": Link("../../outside"),
                "/home/v/cust_aicpu_0_0_123": Link("../../../outside"),
            },
        )
        for context in (PCIE, SOCKET, SOCKET._replace(env={HOME: "/home/v"})):
            writer = CustSoWriter(context, RootedWriter(str(root)))
            assert writer.create("libmy.so", A).status == 21008
            assert writer.delete("libmy.so").steps == ()
        assert list(outside.iterdir()) == []

    def test_loops(self, grow: Grow) -> None:
        tree: Tree = {"/home": Link("home"), "/x": Link("y"), "/y": Link("x")}
        view = grow(tree)
        for context in (PCIE, SOCKET, THREAD._replace(env={HOME: "/x"})):
            assert CustSoWriter(context, view).create("libmy.so", A).status == 21008

    def test_fifos(self, tmp_path: Path) -> None:
        """Nobody waits for their other end."""
        planted(tmp_path, {F[:-1]: None, f"{R}lib": None, self.folder: None})
        os.mkfifo(tmp_path / f"{R}lib/libmy.so.0.0.123"[1:])
        os.mkfifo(tmp_path / f"{self.folder}/libmy.so"[1:])
        writer = CustSoWriter(PCIE, RootedWriter(str(tmp_path)))
        assert kinds(writer.create("libmy.so", A)) == "lock keep symlink"
        writer = CustSoWriter(SOCKET, RootedWriter(str(tmp_path)))
        assert kinds(writer.create("libmy.so", A)) == "keep"
        assert kinds(writer.delete("libmy.so")) == "chmod unlink rmdir"


class TestLib:
    """AE-904: what is in `lib/` is compared."""

    def test_what_is_not_a_regular_file(self, grow: Grow) -> None:
        tree: Tree = {f"{R}lib/a": Link("../file"), f"{R}file": A, f"{R}lib/b/file": A}
        assert kinds(CustSoWriter(PCIE, grow(tree)).create("libmy.so", A)) == (
            "lock write chmod mkdir symlink"
        )

    def test_any_file_is_shared(self, grow: Grow) -> None:
        """The first by name, whatever made it."""
        writer = CustSoWriter(PCIE, grow({f"{R}lib/z": A, f"{R}lib/.y": A, f"{R}lib/b": B}))
        assert writer.create("libmy.so", A).steps[1].target == f"{R}lib/.y"

    def test_huge_files_are_not_read(self, tmp_path: Path) -> None:
        """A file of 200 MB is compared with what has as many bytes, a larger one never."""
        planted(tmp_path, {f"{R}lib": None})
        for name, size in (("huge", 5 << 30), ("large", 0xC800001)):
            with (tmp_path / f"{R}lib/{name}"[1:]).open("wb") as out:
                out.truncate(size)
        writer = CustSoWriter(PCIE, Overlay(RootedFiles(str(tmp_path))))
        begin, peak = perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert kinds(writer.create("libmy.so", A)) == "lock write chmod mkdir symlink"
        assert perf_counter() - begin < 1
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 64 << 10
        assert kinds(writer.create("libbig.so", bytes(0xC800001))) == "lock write chmod symlink"

    def test_thousands_of_files(self, tmp_path: Path) -> None:
        planted(tmp_path, {f"{R}lib/f{i}": b"%4d" % i for i in range(4000)})
        writer = CustSoWriter(PCIE, RootedWriter(str(tmp_path)))
        begin = perf_counter()
        assert writer.create("libmy.so", b"3999").steps[1].target == f"{R}lib/f3999"
        assert kinds(writer.create("libmy2.so", A)) == "lock write chmod symlink"
        assert perf_counter() - begin < 5


class TestFailures:
    def test_disk(self, tmp_path: Path) -> None:
        """Not a refusal of the scheduler, and the content does not count as stored."""
        planted(tmp_path, {f"{R}lib": None})
        writer = CustSoWriter(PCIE, RootedWriter(str(tmp_path)))
        data = bytes(10000)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            with pytest.raises(OutputError, match="File too large"):
                writer.create("libmy.so", data)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert list((tmp_path / f"{R}lib"[1:]).iterdir()) == []
        assert kinds(writer.create("libmy.so", data)) == "lock write chmod mkdir symlink"


@pytest.mark.parametrize(
    ("context", "steps", "status"),
    [
        (PCIE, "lock write chmod mkdir symlink", 0),
        (AeContext(vf=40), "lock write chmod mkdir symlink", 0),
        (SOCKET, "mkdir write chmod", 0),
        (THREAD._replace(env={CUST_PATH: "/data/c"}), "mkdir write chmod load", 0),
        (SOCKET._replace(env=NO_HOME), "mkdir refuse", 21001),
        (SOCKET._replace(env={HOME: "/a/../b"}), "mkdir refuse", 21001),
        (SOCKET._replace(env={HOME: "//a"}), "mkdir refuse", 21001),
        (SOCKET._replace(env={HOME: "a/b"}), "mkdir refuse", 21001),
        (SOCKET._replace(env={HOME: "/" + "u" * 256}), "refuse", 21008),
        (SOCKET._replace(env={HOME: "/a\0"}), "refuse", 21008),
    ],
)
def test_fresh_tree(context: AeContext, steps: str, status: int) -> None:
    """The root is there, and in PCIe mode `lib/`."""
    written = CustSoWriter(context, fresh_tree(context)).create("libmy.so", A)
    assert (kinds(written), written.status) == (steps, status)


def test_w12() -> None:
    assert fnv1a(memoryview(b"a" * 17)) == 12846934374798548220
