"""`python -m prowess.cli`."""

from __future__ import annotations

import sys

from prowess.cli import main

sys.exit(main())
