"""What Prowess keeps on disk: cache, trust, approvals, usage, locks."""
