"""From a header's fields to a manifest."""
