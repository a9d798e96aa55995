"""Properties may take their time: a loaded machine is no counterexample."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
