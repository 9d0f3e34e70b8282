"""Rules of The Fight For a Name."""
