"""Twelve tide gauges, a module each."""
