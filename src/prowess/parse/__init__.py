"""The second stage: text becomes a header and a body, the header a manifest, the candidate a skill."""
