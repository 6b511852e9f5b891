"""Skills that wait for a file, and what wakes them.

`conditions` asks the `pattern_index` which of thousands of skills a touched file wakes;
`nested_roots` finds folders of skills that lie beside the file.
"""
