"""`hybridsim demo`"""

from pathlib import Path

from .arguments import Folder


def demo(out: Folder = Path("out/demo")) -> None:
    """Calibrate a two-link arm from logs that are shipped.

    Args:
        out: Folder of the run.
    """
    from ..view.demo import run_demo

    run_demo(out)
