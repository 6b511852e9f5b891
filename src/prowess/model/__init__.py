"""The frozen values that stages hand on."""
