"""Import skills that other tools installed.

Folders of skills (`skill_folders`) are matched by name with what other installers recorded
(`installer_records`). Whether somebody edited them follows from the installer's own digest
(`recorded_digests`) or from what the source has now (`upstream`). `adoption` puts it together; it
writes to the store and the lock file only.
"""
