"""`make chaos SCALE=small|full [SEED=n]`: battles while everything fails.

The exit code is 1 if a condition does not hold at the end.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from functools import partial
from pathlib import Path

from services.runtime import logs
from tests.chaos.driver import SCALES, run


def main() -> int:
    """Run once and print the report."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__.partition(": ")[2])
    parser.add_argument("--scale", choices=SCALES, default="small")
    parser.add_argument("--seed", type=int, default=None, help="random, and printed, unless given")
    parser.add_argument("--keep", type=Path, help="folder for all files, logs included; it must not exist")
    options = parser.parse_args()
    seed = random.randrange(10_000) if options.seed is None else options.seed
    logs.configure("error", "console")
    with tempfile.TemporaryDirectory(prefix="chaos-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        report = asyncio.run(run(SCALES[options.scale], seed, folder, partial(print, flush=True)))
    print(report.text)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
