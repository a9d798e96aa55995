"""The demo: a small website and prepared battles, so that everything can be tried without a network.

The content lies in the checkout's `demo/` folder; here is the code that serves and reads it.
"""
