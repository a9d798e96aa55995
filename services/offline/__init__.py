"""The offline model: an OpenAI-compatible server that answers by heuristics, with simulated faults.

In one process it is reached through an ASGI transport (`app.create_app`); over HTTP it is a simulator of load
and faults (`serve.run`). Every reply has the model name `offline-heuristic`.
"""
