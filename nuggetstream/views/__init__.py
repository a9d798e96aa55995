"""The JSON of the platform's API, once: the gateway answers with these shapes, and the client reads them.

A value that does not exist is null. Readers ignore fields that they do not know, so a newer platform may add
fields.
"""
