"""Falls over before it says hello."""

raise RuntimeError("fell over")
