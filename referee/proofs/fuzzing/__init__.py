"""The referee under attack in virtual time: scripts of misfortune, played, and judged by a second set of rules."""
