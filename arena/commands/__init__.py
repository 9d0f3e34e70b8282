"""One file a command, imported only when that command is asked for."""
