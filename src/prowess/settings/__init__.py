"""Settings files of every host: read, checked, described and edited.

`load` finds the files of a host and adds up what they set. `read` knows what each key means,
`formats` how each format is parsed and where its keys are, `edit` how a file is changed in place.
"""
