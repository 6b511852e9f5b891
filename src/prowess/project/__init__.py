"""A working folder as one host sees it: what is opened once, scanned, offered and watched."""
