"""Share skills: packed into archives, published by a signed index, laid out for hosts.

`skill_files` decides for all of them which files are shared. `archive` packs them, `site` builds a
folder to serve and `site_folder` writes it, `signature` signs its list of files. `host_layout`
links or copies a project's skills into the folders of other hosts.
"""
