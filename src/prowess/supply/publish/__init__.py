"""Share skills: packed into archives, published by a signed index, laid out for hosts."""
