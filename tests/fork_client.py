"""A command that a fork server runs, for shells: it takes the streams, folder and signals of this process.

    python -I -S fork_client.py MODULE-OR-FILE ARGUMENT…

It imports nothing but the standard library, so that it starts within milliseconds. FORK_SERVER names the file
descriptor of the server's socket, which processes share: each locks this file from its request to the answer.
"""

import fcntl
import json
import os
import signal
import socket
import sys
from pathlib import Path

_ANSWER_BYTES = 32
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Start the command, pass signals on, and end with its exit code or by its signal."""
    environment = dict(os.environ)
    control = socket.socket(fileno=int(environment.pop("FORK_SERVER")))
    ended, end = os.pipe()
    request = {"command": sys.argv[1:], "environment": environment, "folder": str(Path.cwd())}
    signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
    with Path(__file__).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        socket.send_fds(control, [json.dumps(request).encode()], [0, 1, 2, end])
        child = int(control.recv(_ANSWER_BYTES))
    os.close(end)
    for number in _FORWARDED:
        signal.signal(number, lambda number, _: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _FORWARDED)
    code = int(os.read(ended, _ANSWER_BYTES))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)


if __name__ == "__main__":
    main()
