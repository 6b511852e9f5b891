"""From the text of a header to values: a guarded parser, and values as each host reads them."""
