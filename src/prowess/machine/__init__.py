"""The machine: files, facts, state on disk. The only part of Prowess that touches it."""
