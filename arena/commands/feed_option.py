"""The option that publishes what spectators may know while it happens."""

import click

feed_option = click.option(
    "--feed",
    metavar="ENDPOINT",
    help="Publish what spectators may know over ZeroMQ as it happens: ipc://PATH or tcp://ADDRESS:PORT.",
)
