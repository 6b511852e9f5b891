"""The first stage: a profile and places become ordered roots, roots become candidates, bounded and
sorted.
"""
