"""Which rules count: codes that are selected and ignored, and `[tool.cannkit.check]` of a project."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, NoReturn

from cannkit.check.baseline import split_place
from cannkit.check.finding import Finding
from cannkit.errors import InputError, UsageError, brief
from cannkit.inputs.files import is_directory, read_host

CANNKIT_TOML: Final = "cannkit.toml"
PYPROJECT: Final = "pyproject.toml"
KEYS: Final = ("select", "ignore", "fail-on", "soc", "device-glibc", "per-path-ignores")
FAIL_ON: Final = ("error", "warning", "never")
FILE_LIMIT: Final = 256 << 10
MOST_FOLDERS: Final = 256  # of a path, upwards
MOST_DOTS: Final = 64  # tomllib takes the square of the parts of a key, in time and memory
LONG_KEY: Final = re.compile(
    r"""(?:(?:(?<![\w-])[\w-]+|"[^"\n]{0,200}"|'[^'\n]{0,200}')[ \t]*+\.[ \t]*+)"""
    f"{{{MOST_DOTS}}}"
)
LONGEST_GLOB: Final = 512  # fnmatch takes the square of it
GLIBC: Final = re.compile("[0-9]{1,4}[.][0-9]{1,4}")


class PathIgnore(NamedTuple):
    """Codes that do not count for the paths that a glob matches; `*` matches `/`, too."""

    glob: str
    codes: tuple[str, ...]


class Config(NamedTuple):
    """A project's settings; `file` says where they stand. None and empty: not said."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str | None = None
    soc: str | None = None
    device_glibc: str | None = None
    per_path_ignores: tuple[PathIgnore, ...] = ()
    file: str | None = None


class Layer(NamedTuple):
    """Prefixes of codes that are taken and left out. Without `select` it only leaves out."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def takes(self, code: str, before: bool) -> bool:
        """Whether a code is taken, when it was so `before`: the longest prefix wins, of two `ignore`."""
        select, ignore = _longest(self.select, code), _longest(self.ignore, code)
        if self.select:
            return select > ignore
        return before and not ignore


class Selection(NamedTuple):
    """What counts: layers, the last one decides, and the ignores of paths below `folder`."""

    layers: tuple[Layer, ...] = ()
    per_path_ignores: tuple[PathIgnore, ...] = ()
    folder: str = "."

    def takes_code(self, code: str) -> bool:
        """Whether a rule counts anywhere."""
        taken = True
        for layer in self.layers:
            taken = layer.takes(code, taken)
        return taken

    def takes(self, finding: Finding) -> bool:
        """Whether a finding counts."""
        code = finding.rule.code
        if not self.takes_code(code):
            return False
        globs = [each.glob for each in self.per_path_ignores if _longest(each.codes, code)]
        names = _names(finding.file, self.folder) if globs else ()
        return not any(fnmatchcase(name, glob) for glob in globs for name in names)


def select_rules(
    config: Config,
    codes: Collection[str],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Selection:
    """The selection of a project and a command line, where a code is K012 or a prefix as `K0`.

    `select` of the command line stands for all that the project says. An item may be a list with commas.
    Raises UsageError for what is no prefix of one of `codes`.
    """
    line = Layer(
        checked_codes(_split(select), codes, "--select"),
        checked_codes(_split(ignore), codes, "--ignore"),
    )
    folder = posixpath.dirname(config.file or "") or "."
    layers = (Layer(config.select, config.ignore), line)
    return Selection(layers, config.per_path_ignores, folder)


def checked_codes(prefixes: Sequence[str], codes: Collection[str], where: str) -> tuple[str, ...]:
    """The prefixes, each of at least one of `codes`; raises UsageError with the nearest ones."""
    for prefix in prefixes:
        if not prefix or not any(code.startswith(prefix) for code in codes):
            near = get_close_matches(prefix.upper(), codes, n=3)
            _unknown("rule", prefix, where, near, "`cannkit check --list` lists all rules")
    return tuple(dict.fromkeys(prefixes))


def find_config(path: str, codes: Collection[str]) -> Config:
    """The settings that hold for `path`: of the nearest folder, upwards, that has some.

    `cannkit.toml` comes before `pyproject.toml`, which counts only with a `[tool.cannkit.check]`. Raises
    InputError for a file that cannot be read, UsageError for unknown keys, codes and values.
    """
    start = os.path.abspath("" if path == "-" else path)  # noqa: PTH100 (keeps links)
    is_absolute = path.startswith("/")
    folder = start if is_directory(start) else posixpath.dirname(start)
    for _ in range(MOST_FOLDERS):
        for name in (CANNKIT_TOML, PYPROJECT):
            file = posixpath.join(folder, name)
            config = read_config(file if is_absolute else posixpath.relpath(file), codes)
            if config is not None:
                return config
        if posixpath.dirname(folder) == folder:
            break
        folder = posixpath.dirname(folder)
    return Config()


def read_config(file: str, codes: Collection[str]) -> Config | None:
    """The settings in `file`; None where it is missing or a pyproject without some. Raises as above."""
    data = read_host(file, FILE_LIMIT)
    if data is None:
        return None
    import tomllib  # only a project with settings waits for it

    try:
        text = data.decode("utf-8")
        if LONG_KEY.search(text):
            raise ValueError(f"a key has more than {MOST_DOTS} parts")
        parsed = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else brief(str(error))
        raise InputError("cannot read the settings", where=file, why=why) from error
    return config_of(parsed, codes, file)


def config_of(parsed: Mapping[str, Any], codes: Collection[str], file: str) -> Config | None:
    """The settings in a parsed `file`: `[tool.cannkit.check]`, of a `cannkit.toml` also `[check]`.

    None for a pyproject without them. Raises UsageError for unknown keys, codes and values.
    """
    table = _table(_table(_table(parsed, "tool", file), "cannkit", file), "check", file)
    if posixpath.basename(file) == CANNKIT_TOML:
        _known(parsed, ("tool", "check"), file)
        if "check" in parsed and table is not None:
            _wrong("[check] and [tool.cannkit.check]", file, "they say the same thing: keep one")
        table = _table(parsed, "check", file) or table or {}
    if table is None:
        return None
    _known(table, KEYS, file)
    ignores = _table(table, "per-path-ignores", file) or {}
    return Config(
        select=checked_codes(_texts(table, "select", file), codes, f"{file}, select"),
        ignore=checked_codes(_texts(table, "ignore", file), codes, f"{file}, ignore"),
        fail_on=_word(table, "fail-on", file, FAIL_ON),
        soc=_text(table, "soc", file),
        device_glibc=_glibc(table, file),
        per_path_ignores=tuple(_path_ignore(ignores, glob, codes, file) for glob in ignores),
        file=file,
    )


def _path_ignore(
    ignores: Mapping[str, Any], glob: str, codes: Collection[str], file: str
) -> PathIgnore:
    if len(glob) > LONGEST_GLOB:
        _wrong("per-path-ignores", file, f"a path has more than {LONGEST_GLOB} characters")
    return PathIgnore(
        glob.removeprefix("./") + ("*" if glob.endswith("/") else ""),
        checked_codes(_texts(ignores, glob, file), codes, f"{file}, {brief(glob)!r}"),
    )


def _longest(prefixes: Sequence[str], code: str) -> int:
    """How long the longest prefix of `code` is; 0 for none."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


def _names(place: str, folder: str) -> list[str]:
    """What a glob may match: the file below the folder of the settings, its name, its member, both."""
    file, member = split_place(place)
    path = posixpath.relpath(file, folder)
    names = [path, posixpath.basename(path)]
    if member is not None:
        names += [member, f"{path}!{member}"]
    return names


def _split(items: Sequence[str]) -> list[str]:
    return [code.strip().upper() for item in items for code in item.split(",")]


def _known(table: Mapping[str, Any], keys: Sequence[str], file: str) -> None:
    for key in table:
        if key not in keys:
            near = get_close_matches(key.replace("_", "-"), keys, n=3)
            _unknown("key", key, file, near, f"one of {', '.join(keys)}")


def _unknown(what: str, name: str, where: str, near: Sequence[str], otherwise: str) -> NoReturn:
    hint = f"did you mean {', '.join(near)}?" if near else otherwise
    raise UsageError(f"unknown {what} {brief(name)!r}", where=where, hint=hint)


def _wrong(key: str, file: str, why: str) -> NoReturn:
    raise UsageError(f"bad settings: {brief(key)}", where=file, why=why)


def _table(table: Mapping[str, Any] | None, key: str, file: str) -> Mapping[str, Any] | None:
    value = (table or {}).get(key)
    if value is not None and not isinstance(value, dict):
        _wrong(key, file, "not a table")
    return value


def _texts(table: Mapping[str, Any], key: str, file: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        _wrong(key, file, 'not a list of texts, as ["K0", "K101"]')
    return value


def _text(table: Mapping[str, Any], key: str, file: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        _wrong(key, file, "not a text")
    return value


def _word(table: Mapping[str, Any], key: str, file: str, words: Sequence[str]) -> str | None:
    value = _text(table, key, file)
    if value is not None and value not in words:
        _wrong(key, file, f"{brief(value)!r} is none of {', '.join(words)}")
    return value


def _glibc(table: Mapping[str, Any], file: str) -> str | None:
    value = _text(table, "device-glibc", file)
    if value is not None and not GLIBC.fullmatch(value):
        _wrong("device-glibc", file, f'{brief(value)!r} is no version, as "2.34"')
    return value
