"""Import skills that other tools installed."""
