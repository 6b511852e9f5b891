"""Take over the skills that other installers left."""
