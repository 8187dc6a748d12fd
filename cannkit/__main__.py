"""The process: `cannkit` and `python -m cannkit`."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    # Modules that load make many objects and hardly a cycle: to collect while they do, and once more
    # at the exit, takes 14 % of the time of `cannkit parse op.o`, 20 % of that of `cannkit launch`.
    gc.set_threshold(100_000)
    try:
        from cannkit.cli.app import app
        from cannkit.cli.driver import run

        run(app, sys.argv[1:])
    except KeyboardInterrupt:  # before there was anything to interrupt
        sys.exit(130)
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
