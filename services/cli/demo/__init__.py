"""The demo: a small web site and prepared battles, with which the platform can be tried without a network.

The content is in the `demo/` folder of the repository; this package serves and reads it.
"""
