"""The contract between games and referee. Pure."""
