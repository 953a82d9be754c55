"""`python -m hybridsim` is the command `hybridsim`."""

import sys

from .cli import main

sys.exit(main())
