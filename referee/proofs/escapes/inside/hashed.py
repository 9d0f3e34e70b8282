"""A module that is in the hash of the bot, with another program in the place of its compiled form."""

WHAT_RUNS = "this"
