"""Each game's words: its options, setup, actions, events and views."""
