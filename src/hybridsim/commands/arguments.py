"""Arguments that several commands have, by the names that help shows. What is absent unless given needs no default there."""

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

ModelFile = Annotated[Path, Positional, arg(metavar="MODEL", help_behavior_hint="")]
Logs = Annotated[tuple[Path, ...], Positional, arg(metavar="LOG [LOG ...]", help_behavior_hint="")]
Files = Annotated[tuple[Path, ...], Positional, arg(metavar="FILE [FILE ...]", help_behavior_hint="")]
Run = Annotated[Path, Positional, arg(metavar="RUN", help_behavior_hint="")]
Folder = Annotated[Path, arg(metavar="FOLDER")]
Flag = Annotated[bool, arg(help_behavior_hint="")]
OptionalFolder = Annotated[Path | None, arg(metavar="FOLDER", help_behavior_hint="")]
OptionalFile = Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="")]
OptionalSeconds = Annotated[float | None, arg(metavar="SECONDS", help_behavior_hint="")]
Names = Annotated[tuple[str, ...], arg(metavar="JOINT [JOINT ...]", help_behavior_hint="")]
OptionalOrder = Annotated[Literal["wxyz", "xyzw"] | None, arg(metavar="ORDER", help_behavior_hint="")]
Numbers = Annotated[tuple[float, ...], arg(metavar="NUMBER [NUMBER ...]", help_behavior_hint="")]
