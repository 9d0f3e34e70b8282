"""The Fight For a Name."""
