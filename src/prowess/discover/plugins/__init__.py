"""Find plugins: folders that bring skills and more, as each host installs them."""
