"""The games: the list of them, and a folder for each with its words, board, texts and drawing for browsers."""
