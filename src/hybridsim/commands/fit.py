"""`hybridsim fit`"""

import shlex
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from .. import interrupt
from ..escape import for_people, on_one_line
from .arguments import Files, Flag, OptionalFolder
from .exit_codes import INTERRUPTED
from .files import print_json, write_text
from .proposal import check_files, unnamed
from .runs import CONFIG, prepare_folder

if TYPE_CHECKING:
    from ..calibrate import Config


def fit(
    files: Files,
    out: OptionalFolder = None,
    resume: Flag = False,
    force: Flag = False,
    free: Flag = False,
    json: Flag = False,
) -> int:
    """Calibrate a model from logs, find what it lacks, and report.

    Args:
        files: A fit.toml, or a model (URDF or MJCF) and then its logs.
        out: Folder of the run; out/NAME of the first file unless given.
        resume: Go on with the run in the folder, after Ctrl-C or a crash.
        force: Begin anew; what is in the folder is moved aside, not deleted.
        free: Without a fit.toml: let the root link of a URDF float.
        json: Print a summary as JSON instead of tables.
    """
    _check(files)
    from ..calibrate import calibrate, listed, summary
    from ..view.report import write_report
    from .outcome import show_outcome

    folder = Path("out") / files[0].stem if out is None else out
    config = _config(files, folder, resume, force, free)
    if (aside := prepare_folder(folder, resume, force)) is not None:
        _say(f"what was in {folder} is now in {aside}")
    _keep(config, folder)
    interrupt.advise(for_people(_how_to_go_on(files, folder)))
    # With --json nothing but the summary may be on stdout, whoever else prints.
    try:
        with redirect_stdout(sys.stderr) if json else nullcontext():
            with interrupt.safe_points():
                found = calibrate(config, folder, resume=resume, progress=sys.stderr.isatty())
            report = write_report(found, folder, listed(found, folder))
    except KeyboardInterrupt:
        interrupt.say()
        return INTERRUPTED
    except OSError as problem:
        # A full disk is noticed while writing, when Python no longer knows where.
        if problem.filename is None and problem.strerror is not None:
            raise type(problem)(problem.errno, problem.strerror, str(folder)) from problem
        raise
    record = summary(found) | {"folder": str(folder), "report": str(report)}
    if json:
        print_json(record)
    else:
        show_outcome(record)
    if found.stopped:
        interrupt.say()
        return INTERRUPTED
    return 0


def _is_config(file: Path) -> bool:
    return file.suffix.lower() == ".toml"


def _check(files: tuple[Path, ...]) -> None:
    """Before a folder is made for what cannot be fitted."""
    if not files:
        raise ValueError("nothing to fit; give a fit.toml, or a model and its logs")
    first, *others = files
    if not _is_config(first):
        check_files(first, others)
    elif others:
        raise ValueError(f"{first} names its logs itself; write {others[0]} into it, or give a model and logs only")
    elif first.is_dir():
        raise IsADirectoryError(f"{first} is a folder; name a configuration, as `hybridsim init` writes it")
    elif not first.exists():
        raise FileNotFoundError(f"there is no file {first}; `hybridsim init MODEL LOG ...` writes one")


def _config(files: tuple[Path, ...], folder: Path, resume: bool, force: bool, free: bool) -> "Config":
    """As the file says, or as proposed."""
    from ..calibrate import config_of, propose, read_config

    model, *logs = files
    if _is_config(model):
        return read_config(model)
    kept = folder / CONFIG
    if kept.is_file() and resume:
        return read_config(kept)
    if kept.is_file() and not force:
        raise FileExistsError(
            f"{kept} is there already; run it by `hybridsim fit {kept} --out {folder}`, or give --force or another --out"
        )
    return config_of(propose(model, logs, base="free" if free else "auto", folder=folder), folder, str(kept))


def _keep(config: "Config", folder: Path) -> None:
    """What was asked for belongs to the run: a proposal, to be edited there; or a copy of a file from elsewhere."""
    kept, home = folder / CONFIG, config.folder.resolve()
    if home != folder.resolve():
        write_text(kept, f"# A copy; files are named as seen from {on_one_line(str(home))}.\n{config.text}")
    elif not kept.exists():
        write_text(kept, config.text)
    if missing := unnamed(config):
        raise ValueError(
            f"no column of {config.training[0]} is named for {', '.join(missing)}; name it under [logs.columns] of fit.toml"
        )


def _how_to_go_on(files: tuple[Path, ...], folder: Path) -> str:
    return (
        f"what was finished is in {folder}, and this goes on from there: "
        f"{shlex.join(['hybridsim', 'fit', *map(str, files), '--out', str(folder), '--resume'])}"
    )


def _say(sentence: str) -> None:
    sys.stderr.write(f"hybridsim: {for_people(sentence)}\n")
