"""The rules of each game, pure; and the registry of all games."""
