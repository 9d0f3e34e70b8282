"""The players: the kit for bot authors and the sample bots. Depends on protocol only."""
