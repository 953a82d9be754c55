"""Measurements in a process of their own: scripts of this folder that print their result as JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path


def result_of(script: str, *arguments: str, **environment: str):
    """What `python script arguments` prints last, with these variables in its environment."""
    done = subprocess.run(
        [sys.executable, str(Path(script)), *arguments],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
