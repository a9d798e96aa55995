"""A server that speaks the OpenAI API without a model: heuristics that can be read, and faults on demand.

In one process it is reached through an ASGI transport (`app.create_app`), over HTTP it is the load and
fault simulator (`serve.run`). Every reply names itself `offline-heuristic`.
"""
