"""The seat of a language model, which the sample bot `chat` plays."""
