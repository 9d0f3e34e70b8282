"""Messages between bot and referee, and the words of the games. Depends on msgspec only."""
