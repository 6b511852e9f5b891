"""The first stage: a profile becomes ordered roots, roots become bounded, sorted candidates."""
