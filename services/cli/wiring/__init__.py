"""The wiring of the services: one module each, whose `open_service` builds a `Service` of its parts.

Nothing else knows what a service is built from. A process imports the module of the service that it runs, so
each image carries only what its service needs.
"""
