"""Commands for the development of the platform."""
