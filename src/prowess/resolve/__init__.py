"""The third stage: many candidates, one answer per name. The losers keep their reason."""
