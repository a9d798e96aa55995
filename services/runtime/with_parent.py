"""Run a program that ends with the process that started it (Linux).

    python with_parent.py PARENT_PID PROGRAM [ARGUMENT…]

The request to the kernel is made here, after exec, and not between fork and exec. There the fork handlers
of other libraries run first, and those of gRPC start threads in the child, which abort it when its file
descriptors are closed (grpc/grpc issue 43055). PROGRAM keeps the process id.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def main() -> None:
    """Ask the kernel for SIGTERM when the parent ends, then become the program."""
    parent, program = int(sys.argv[1]), sys.argv[2]
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM) != 0:
        sys.exit(f"the kernel rejected PR_SET_PDEATHSIG: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:  # the parent ended before the request
        sys.exit(1)
    for number in _IGNORED_BY_PYTHON:  # ignored signals stay ignored after exec
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, sys.argv[2:])  # noqa: S606 - the caller's own program, no shell


if __name__ == "__main__":
    main()
