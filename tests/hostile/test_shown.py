"""Names from files in what people look at: the report, its figures, pictures of networks, and the terminal."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.markup import escape
from rich.table import Table

import hybridsim as hs
from calibrate.exported import SMALL, hybrid
from hybridsim import cli
from hybridsim.calibrate.run import _shown
from hybridsim.escape import for_people, on_one_line
from hybridsim.view.report import write_report
from hybridsim.view.report.markup import tag
from hybridsim.view.tables import show_model, terminal
from view.pages import Reader
from view.synthetic import calibration, line, model

from .names import CRAFTED, hostile_names

NAMES = hostile_names(1000)
UNSEEN = "\x00\x07\x1b\x7f\x85\x9b\u2028\u202e\u2066\u200b\ufeff\U000e0041\udcff"


def test_unseen_characters_become_visible_and_others_stay():
    for character in UNSEEN:
        assert on_one_line(f"a{character}b").isascii()
        assert for_people(f"a{character}b").startswith("a\\")
    kept = "Größe 漢字 שלום \U0001f916 5\u202f%\xa0x <&>\"'\\$"
    assert for_people(kept) == on_one_line(kept) == kept
    assert for_people("a\n\tb") == "a\n\tb"
    assert on_one_line("a\n\tb") == "a\\u000a\\u0009b"


def test_a_thousand_names_make_no_elements_or_attributes():
    page = tag("div", *(tag("p", name, title=f"x{name}", class_="c") for name in NAMES))
    reader = Reader(page)
    assert reader.tags == ["div", *["p"] * len(NAMES)]
    assert [value for _, key, value in reader.attributes if key == "title"] == [f"x{name}" for name in NAMES]
    assert {key for _, key, _ in reader.attributes} == {"title", "class"}


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")
def test_a_report_of_hostile_names_has_the_elements_of_any_report(tmp_path):
    names = [name for name in CRAFTED if len(name) < 100] + ["stray bytes \udcff", "#1f2933"]
    hostile = "".join(names)

    def report(name: str, folder) -> Reader:
        made = calibration(("original", "calibrated"), (f"{name}.csv",), robot=model(name), title=name)
        made = replace(made, warnings=(name,), curves=(replace(line(), joint=name, words=f"of {name}"),))
        path = write_report(made, folder, {name: name})
        for figure in (folder / "figures").iterdir():
            ElementTree.parse(figure)
        return Reader(path.read_text(encoding="utf-8"))

    plain, found = report("arm", tmp_path / "plain"), report(hostile, tmp_path / "hostile")
    assert not {"script", "b_hostile", "img", "iframe"} & set(found.tags)
    assert sorted(set(found.tags)) == sorted(set(plain.tags))
    assert {key for _, key, _ in found.attributes} == {key for _, key, _ in plain.attributes}
    assert for_people(hostile) in found.texts
    assert not any(character in text for text in found.texts for character in UNSEEN)


@pytest.mark.filterwarnings("ignore:Glyph .* missing")
def test_networks_at_hostile_joints_are_drawn(tmp_path):
    names = ["$x_1$", "$\\frac{1}{0}$", "a, b", "\x1b[2J", "[x]"]
    links = [hs.Link(f"link{i}", 1.0, (0, 0, 0), (0.1, 0.1, 0.1)) for i in range(len(names))]
    joints = [hs.Joint(name, "revolute", "world", f"link{i}", axis=(0, 1, 0)) for i, name in enumerate(names)]
    grafted = hybrid(hs.build(links, joints), [hs.Augment("joint.passive_force", "joint.velocity", SMALL)])
    hs.draw_blueprint(grafted, tmp_path / "networks.svg")
    ElementTree.parse(tmp_path / "networks.svg")


@pytest.fixture
def screen(capsys, monkeypatch):
    """What a terminal that knows colours was sent."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")

    def written() -> str:
        found = capsys.readouterr()
        return found.out + found.err

    return written


def test_tables_in_the_terminal_show_names_and_do_not_obey_them(screen):
    table = Table()
    for name in NAMES:
        table.add_row(escape(name), "x")
    console = terminal()
    console.no_color = True
    console.print(table)
    for name in NAMES:
        console.print(name, markup=False, highlight=False)
    harmless = screen()
    for code in ("\x1b[1m", "\x1b[0m", "\x1b[2m"):
        harmless = harmless.replace(code, "")
    assert not set(harmless) & set(UNSEEN)
    assert ":smile:" in harmless
    assert "[/]" in harmless


def test_a_model_of_hostile_names_is_shown(screen):
    links = [hs.Link(name, 1.0, (0, 0, 0), (0.1, 0.1, 0.1)) for name in CRAFTED]
    joints = [hs.Joint(name, "revolute", "world", name, axis=(0, 1, 0)) for name in CRAFTED]
    show_model(hs.build(links, joints), "\x1b[2Jtitle")
    shown = screen()
    assert "\\u001b[2Jtitle" in shown
    assert "\x1b[2J" not in shown


def test_errors_and_warnings_do_not_obey_names(capsys):
    assert cli.main(["info", "\x1b[2Jrobot\u202e.urdf"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("hybridsim: ")
    assert "\\u001b[2Jrobot\\u202e.urdf" in said
    assert said.count("\n") == 1


def test_progress_shows_names_as_they_are(screen):
    with _shown(True) as say:
        for name in [*CRAFTED, "[/]", "[red]"]:
            say(f"found friction at {name}")
    shown = screen()
    assert "found friction at [/]" in shown
    assert "\x1b[2J" not in shown
