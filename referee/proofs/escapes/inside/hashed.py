"""What is in the bot's hash. Another program lies where Python looks for the compiled form of this one."""

WHAT_RUNS = "this"
