"""`hybridsim compare`"""

from .arguments import Flag, Run
from .files import print_json
from .runs import read_summary


def compare(a: Run, b: Run, json: Flag = False) -> None:
    """Compare two runs: errors, findings and parameters.

    Args:
        a: Folder of a run.
        b: Folder of another.
        json: Print JSON, with all parameters.
    """
    before, after = read_summary(a), read_summary(b)
    from ..view.compare import compared, show_comparison

    found = compared(str(a), before, str(b), after)
    if json:
        print_json(found)
    else:
        show_comparison(found)
