"""Programs for those who work on Prowess; none of them is installed."""
