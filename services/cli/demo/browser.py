"""The browser of the person who runs the demo."""

import webbrowser

import click


def open_url(url: str) -> None:
    """Open an address in the browser; where there is none, say so."""
    if not webbrowser.open(url):
        click.echo(f"no browser could be started; the address is {url}", err=True)
