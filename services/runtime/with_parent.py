"""Run a program that ends with the process that started it (Linux).

    python with_parent.py PARENT_PID PROGRAM [ARGUMENT…]

The request to the kernel is made here, after exec, and not between fork and exec: there the fork
handlers of other libraries run first, and those of gRPC start threads in the child, which abort it
when its descriptors are closed (grpc/grpc issue 43055). The process id stays the one of PROGRAM.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def main() -> None:
    """Ask for SIGTERM at the parent's end, then become the program."""
    parent, program = int(sys.argv[1]), sys.argv[2]
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM) != 0:
        sys.exit(f"the kernel refuses PR_SET_PDEATHSIG: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:  # it ended before the request was in place
        sys.exit(1)
    for number in _IGNORED_BY_PYTHON:  # what is ignored stays so after exec
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, sys.argv[2:])  # noqa: S606 - the caller's own program, no shell


if __name__ == "__main__":
    main()
