"""The server of llama.cpp on a free port of the loopback interface, which is printed; ends with its input.

    python serve.py MODEL.gguf CONTEXT THREADS

It runs in an environment of its own, because the platform does not need its package.
"""

import sys

import xllamacpp


def main() -> None:
    model, context, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    print(f"listening on {server.listening_address}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
