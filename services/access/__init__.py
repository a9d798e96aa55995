"""Who may use the platform: keys, their roles and arenas, limits, and the audit log (docs/access.md).

    a key, a login, a user of a trusted proxy  ->  a caller with roles in arenas  ->  allowed, or why not

    callers.py   roles, callers, and the errors of those who may not
    keys.py      from what was sent to a caller, with a short memory
    limits.py    requests per minute and battles per day
    signing.py   how the gateway proves to the rater that it asks
    grpc.py      the checks before every method of a gRPC service

The gateway checks HTTP by the same callers (`services.gateway.access`).
"""
