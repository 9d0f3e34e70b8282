"""`python -m bots.remote`: see `bots.remote.relay`."""

from bots.remote.relay import main

main()
