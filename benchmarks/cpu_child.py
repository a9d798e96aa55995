"""Run `nuggetstream eval` in this process and write down what its processor time went into.

    python -m benchmarks.cpu_child REPORT.json eval FILE --out FOLDER

A thread samples the stack of the event loop. A sample counts for the room of the innermost frame of ours, so
that time inside a library counts for the room that called it; samples in which the loop waits are left out.
"""

import json
import resource
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

EVERY = 0.01  # seconds between samples
_OURS = ("services", "nuggetstream")
_ROOT = Path(__file__).parents[1]


def room_of(frame: FrameType | None) -> str | None:
    """The room that a stack works for, such as "services.store"; None where the loop waits for events."""
    innermost = frame
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if frame is innermost and path.name == "selectors.py":
            return None
        if path.is_relative_to(_ROOT):
            package, *rooms = path.relative_to(_ROOT).with_suffix("").parts
            if package in _OURS:
                return ".".join([package, *rooms[:-1]][:3]) if rooms[:-1] else package
        frame = frame.f_back
    return "event loop and libraries"


def sample(thread: int, rooms: Counter[str], stop: threading.Event) -> None:
    """Count rooms until stopped."""
    while not stop.wait(EVERY):
        room = room_of(sys._current_frames().get(thread))
        if room is not None:
            rooms[room] += 1


def main() -> None:
    from services.cli.main import main as command

    report, *sys.argv[1:] = sys.argv[1:]
    rooms: Counter[str] = Counter()
    stop = threading.Event()
    sampler = threading.Thread(target=sample, args=(threading.get_ident(), rooms, stop), daemon=True)
    sampler.start()
    try:
        command()
    finally:
        stop.set()
        own, broker = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        numbers = {
            "own": own.ru_utime + own.ru_stime,
            "broker": broker.ru_utime + broker.ru_stime,
            "peak_mb": own.ru_maxrss / 1024,
            "rooms": dict(rooms),
        }
        Path(report).write_text(json.dumps(numbers))


if __name__ == "__main__":
    main()
