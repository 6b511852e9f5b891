"""The programs that a skill requires: which of the author's ways installs them, and doing it."""
