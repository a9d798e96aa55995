"""The JSON of the platform's API, once: the gateway answers with these shapes, and the client reads them.

What has no answer is null. A field that a reader does not know is ignored, so a newer platform may add some.
"""
