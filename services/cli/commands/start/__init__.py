"""Commands that start the platform or check the installation."""
