"""Runs Python blocks one after another, each a line of JSON, and answers with what each has printed."""

import contextlib
import io
import json
import sys
from typing import Any


def main() -> None:
    """Run blocks until there are no more."""
    names: dict[str, Any] = {}
    for line in sys.stdin:
        place, text = json.loads(line)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, place, "exec"), names)
        print(json.dumps(printed.getvalue()), flush=True)


if __name__ == "__main__":
    main()
