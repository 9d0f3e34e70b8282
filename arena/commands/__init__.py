"""Commands, each imported only when it is run."""
