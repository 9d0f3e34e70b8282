"""`python -m arena` is the command line."""

from arena.commands.main import main

main()
