"""Stands in for plotly while notebooks of the site run: figures would load plotly.js from another host."""

raise ModuleNotFoundError("the site works offline, and plotly's figures do not", name="plotly")
