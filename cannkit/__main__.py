"""The process: `cannkit` and `python -m cannkit`."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    # Modules that load make many objects and hardly a cycle: collecting all the while takes 4 % of
    # the time of `cannkit parse op.o`.
    gc.set_threshold(50_000)
    try:
        from cannkit.cli.app import app
        from cannkit.cli.driver import run

        run(app, sys.argv[1:])
    except KeyboardInterrupt:  # before there was anything to interrupt
        sys.exit(130)


if __name__ == "__main__":
    main()
