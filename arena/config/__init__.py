"""What people write for the arena: tournament files, clocks, setups and caps, read and checked."""
