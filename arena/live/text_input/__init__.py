"""A person's actions in the words of each game: typed, asked for, shown."""
