"""What may be wrong with a file gives one sentence that says so; nothing else happens."""

import json
import zipfile

import numpy as np
import pytest
from safetensors.numpy import load, save

import hybridsim as hs
from hybridsim.augment import HybridFileError, load_hybrid, save_hybrid
from hybridsim.augment.save import container

from .models import arm, cube, fingers, members, resealed, structure, zipped


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> dict[str, dict[str, bytes]]:
    """Members of good files."""
    folder = tmp_path_factory.mktemp("good")
    for make in (arm, cube, fingers):
        save_hybrid(make(), folder / f"{make.__name__}.hybrid")
    return {path.stem: members(path) for path in folder.iterdir()}


def refused(path, content: bytes, words: str) -> None:
    path = path / "m.hybrid"
    path.write_bytes(content)
    with pytest.raises(HybridFileError, match=words) as error:
        load_hybrid(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert "; " in message
    assert "\n" not in message


class TestContainer:
    def test_nothing_there(self, tmp_path):
        with pytest.raises(HybridFileError, match=r"there is no such file.*the current folder is"):
            load_hybrid(tmp_path / "nowhere.hybrid")
        with pytest.raises(HybridFileError, match=r"the folder has no model\.json"):
            load_hybrid(tmp_path)

    @pytest.mark.parametrize(
        "content", [b"", b"hello", b"PK\3\4", b"PK\5\6" + bytes(18)], ids=["", "text", "PK", "empty"]
    )
    def test_no_zip(self, tmp_path, content):
        refused(tmp_path, content, "not a hybrid model|0 times model.json")

    def test_cut(self, tmp_path, good):
        whole = zipped(good["arm"])
        for part in (0.1, 0.5, 0.9, 0.999):
            refused(tmp_path, whole[: int(part * len(whole))], "its end is missing")

    @pytest.mark.parametrize("name", ["model.json", "numbers.safetensors"])
    def test_missing_member(self, tmp_path, good, name):
        left = {key: value for key, value in good["arm"].items() if key != name}
        refused(tmp_path, zipped(left), f"0 times {name}")
        folder = tmp_path / "folder"
        folder.mkdir()
        for key, value in left.items():
            (folder / key).write_bytes(value)
        with pytest.raises(HybridFileError, match=f"the folder has no {name}"):
            load_hybrid(folder)

    @pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "C:\\x", "code.py", "model.json/"])
    def test_strange_names(self, tmp_path, good, name):
        refused(tmp_path, zipped(good["arm"] | {name: b""}), "no part of a model")

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_a_member_twice(self, tmp_path, good):
        path = tmp_path / "two.zip"
        path.write_bytes(zipped(good["arm"]))
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("model.json", b"{}")
        refused(tmp_path, path.read_bytes(), "2 times model.json")

    def test_a_bomb(self, tmp_path, good, monkeypatch):
        bomb = good["arm"] | {"model.json": bytes(2**20)}
        refused(tmp_path, zipped(bomb, zipfile.ZIP_DEFLATED), "is compressed; store it")
        monkeypatch.setitem(container.LARGEST, "model.json", 2**20 - 1)
        refused(tmp_path, zipped(bomb), "model.json has 1048576 bytes, and at most 1048575 are read")
        folder = tmp_path / "folder"
        folder.mkdir()
        for name, content in bomb.items():
            (folder / name).write_bytes(content)
        with pytest.raises(HybridFileError, match=r"model\.json has 1048576 bytes"):
            load_hybrid(folder)

    def test_sizes_that_are_lies(self, tmp_path, good):
        whole = bytearray(zipped(good["arm"]))
        at = whole.index(b"PK\1\2")
        whole[at + 20 : at + 28] = (2**29).to_bytes(4, "little") * 2
        refused(tmp_path, bytes(whole), "larger")

    def test_limits_are_sensible(self):
        assert max(container.LARGEST.values()) <= 2**30


class TestDocument:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (b"", "broken JSON"),
            (b"{", "broken JSON"),
            (b"\xff\xfe", "broken JSON"),
            (b'{"a": NaN}', "broken JSON"),
            (b"[" * 100_000, "broken JSON"),
            (b"9" * 10_000, "broken JSON"),
            (b"[]", "hs.save_hybrid wrote"),
            (b'{"format": "other"}', "hs.save_hybrid wrote"),
            (b'{"format": "hybridsim-model", "version": 2, "hybridsim": "9.1"}', "HybridSim 9.1 in version 2.*newer"),
            (b'{"format": "hybridsim-model", "version": "1"}', "the version '1'"),
            (b'{"format": "hybridsim-model", "version": 1}', "checksum"),
            (b'{"format": "hybridsim-model", "version": 1, "sha256": 1}', "checksum"),
        ],
    )
    def test_broken(self, tmp_path, good, text, words):
        refused(tmp_path, zipped(good["arm"] | {"model.json": text}), words)

    def test_any_edit_is_noticed_but_white_space_is_free(self, tmp_path, good):
        content = good["arm"]
        refused(
            tmp_path, zipped(content | {"model.json": content["model.json"].replace(b"tanh", b"relu")}), "its checksum"
        )
        loose = json.dumps(json.loads(content["model.json"]), indent=7).encode()
        (tmp_path / "loose.hybrid").write_bytes(zipped(content | {"model.json": loose}))
        assert load_hybrid(tmp_path / "loose.hybrid").nq == 2

    def test_numbers_of_another_model(self, tmp_path, good):
        mixed = good["arm"] | {"numbers.safetensors": good["cube"]["numbers.safetensors"]}
        refused(tmp_path, zipped(mixed), "put back the files that belong together")


EDITS = {
    "unknown kind": (lambda s: s["joints"][1].update(kind="os.system"), r"joints\[1\]\.kind is 'os\.system'"),
    "unknown parent": (lambda s: s["joints"][1].update(parent="nobody"), "no such joint before this one"),
    "circle": (lambda s: s["joints"][1].update(parent="elbow"), r"joints\[1\]\.parent .* before this one"),
    "own parent": (lambda s: s["joints"][1].update(parent="shoulder"), "before this one"),
    "a name twice": (lambda s: s["joints"][1].update(name="elbow"), "second time|before this one"),
    "copies itself": (lambda s: s["joints"][1].update(mimics="shoulder"), "coordinate of its own"),
    "copies without ratio": (lambda s: s["joints"][2].update(mimics="shoulder"), "lacks the ratio"),
    "no joints": (lambda s: s.update(joints=7), "joints is 7, not a list"),
    "a joint too few": (lambda s: s["joints"].pop(), "no such joint"),
    "a link too few": (lambda s: s["links"].pop(), "links/mass has shape|no such link"),
    "link on another's joint": (lambda s: s["links"][1].update(joint=s["links"][0]["joint"]), "already carries"),
    "missing": (lambda s: s.pop("links"), "has no 'links'"),
    "additional": (lambda s: s.update(code="import os"), "has 'code', which means nothing"),
    "strange extra": (lambda s: s["joint_extras"].append("__class__"), "which joints do not have"),
    "unknown shape": (lambda s: s["shapes"][0].update(shape="teapot"), "no such shape"),
    "many points": (lambda s: s["shapes"][0].update(shape="points", points=10**9), "has shape"),
    "pair of nothing": (lambda s: s.update(contact_pairs=[[0, 99]]), r"contact_pairs\[0\]\[1\] is 99"),
    "pair below zero": (lambda s: s.update(contact_pairs=[[0, -1]]), "is -1"),
    "pair of three": (lambda s: s.update(contact_pairs=[[0, 1, 2]]), "two numbers"),
    "freedom": (lambda s: s.update(limited_freedoms=[0, 2]), r"limited_freedoms\[1\] is 2"),
    "freedom twice": (lambda s: s.update(limited_freedoms=[0, 0]), "twice"),
    "true is no number": (lambda s: s.update(limited_freedoms=[0, True]), "is True"),
    "actuator": (lambda s: s["actuators"].append({"name": "a", "joint": "x"}), "no such joint|has shape"),
    "unknown variable": (lambda s: net(s)["variables"].append("__import__"), "which no step has"),
    "variable twice": (lambda s: net(s)["variables"].append("world.time"), "twice"),
    "unknown class": (lambda s: of(s)["network"].update({"class": "Popen"}), "the class 'Popen', which is none of"),
    "class by path": (lambda s: of(s)["network"].update({"class": "os.system"}), "which is none of"),
    "abstract class": (lambda s: of(s)["network"].update({"class": "Structure"}), "which is none of"),
    "class of a module": (lambda s: of(s)["network"].update({"class": "Perceptron"}), "which is none of"),
    "no class": (lambda s: of(s).update(network=["MLP"]), "no architecture"),
    "unknown field": (lambda s: of(s)["network"].update(code="x"), "means nothing"),
    "unknown activation": (lambda s: of(s)["network"].update(activation="system"), "no activation is called"),
    "negative width": (lambda s: of(s)["network"].update(hidden=[-1]), "1 or more"),
    "text for width": (lambda s: of(s)["network"].update(hidden=["a"]), "no MLP that can be made"),
    "another width": (lambda s: of(s)["network"].update(hidden=[5, 3]), "has shape"),
    "huge width": (lambda s: of(s)["network"].update(hidden=[10**15]), "too large"),
    "large width": (lambda s: of(s)["network"].update(hidden=[10**6, 10**6]), "larger than the number of its weights"),
    "deep": (lambda s: of(s)["network"].update(hidden=[100] * 10_000), "larger than the number of its weights"),
    "huge cell": (lambda s: of(s, 1)["network"].update(units=10**7), "larger than the number of its weights"),
    "mode": (lambda s: of(s).update(mode="eval"), "no such mode"),
    "apply": (lambda s: of(s).update(apply=["each"]), "not a text"),
    "outputs": (lambda s: of(s).update(outputs=["joint.damping"]), "not the outputs of the augmentation"),
    "no outputs": (lambda s: of(s).update(outputs=[]), "one or more names"),
    "delay": (lambda s: of(s)["inputs"][2].update(delays=[-1]), r"delays\[0\] is -1"),
    "no delay": (lambda s: site(s)["inputs"][0].update(delays=[]), "is empty"),
    "long delay": (lambda s: site(s)["inputs"][0].update(delays=[10**12]), "not a whole number"),
    "constant": (lambda s: of(s)["inputs"][3].update(values=[["*"]]), "pairs of a pattern"),
    "augment": (lambda s: site(s).update(augment=3), r"networks\[0\]\.augment is 3"),
    "augment below zero": (lambda s: site(s).update(augment=-1), "is -1"),
    "place": (lambda s: site(s)["inputs"][0].update(places=[[2]]), r"inputs\[0\]\.places must be .* 0 to 1"),
    "place below zero": (lambda s: site(s)["outputs"][0].update(places=[[-1]]), "places"),
    "place of text": (lambda s: site(s)["outputs"][0].update(places=[["0"]]), "places"),
    "uneven places": (lambda s: site(s, -2).update(rows=1), "table of 1 rows"),
    "no rows": (lambda s: site(s).update(rows=0), "rows is 0"),
    "many rows": (lambda s: site(s).update(rows=10**9), "table of 1000000000 rows"),
    "unknown wire": (lambda s: site(s)["inputs"][0].update(variable="x"), "no such variable"),
    "wire twice": (lambda s: site(s)["inputs"].append(site(s)["inputs"][0]), "twice"),
    "wire too few": (lambda s: site(s)["inputs"].pop(0), "has shape"),
    "late output": (lambda s: site(s)["outputs"][0].update(delays=[1]), "without delays"),
    "constant as output": (lambda s: site(s).update(outputs=[{"constant": "x", "place": 0}]), "not the outputs"),
    "given place": (lambda s: site(s)["inputs"][-1].update(place=1), "place is 1"),
    "wide constants": (lambda s: site(s).update(constants=[10**6]), r"constant/0/0 has shape \(1, 1\)"),
    "networks gone": (lambda s: s.update(augmentation=None), "no part of the model uses"),
    "a network gone": (lambda s: net(s)["networks"].pop(), "no part of the model uses"),
}


def net(s: dict) -> dict:
    return s["augmentation"]


def of(s: dict, i: int = 0) -> dict:
    return net(s)["augments"][i]


def site(s: dict, i: int = 0) -> dict:
    return net(s)["networks"][i]


@pytest.mark.parametrize("name", EDITS)
def test_edits_of_a_stranger_who_mends_the_checksums(name, tmp_path, good):
    edit, words = EDITS[name]
    changed = structure(good["arm"])
    edit(changed)
    refused(tmp_path, resealed(good["arm"], changed), words)


def test_copies_of_copies_are_refused(tmp_path, good):
    changed = structure(good["fingers"])
    copy = next(row for row in changed["joints"] if row["mimics"])
    other = next(row for row in changed["joints"] if row["kind"] == "revolute" and not row["mimics"])
    other["mimics"] = copy["name"]
    refused(tmp_path, resealed(good["fingers"], changed), "coordinate of its own")


def test_contact_that_is_not_known_is_refused(tmp_path, good):
    changed = structure(good["cube"])
    changed["contact_pairs"][0].reverse()
    refused(tmp_path, resealed(good["cube"], changed), "contact is not known")


class TestNumbers:
    def changed(self, tmp_path, good, words, edit=None, content=None):
        numbers = load(good["arm"]["numbers.safetensors"])
        if edit:
            edit(numbers)
        refused(tmp_path, resealed(good["arm"], numbers=save(numbers) if content is None else content), words)

    @pytest.mark.parametrize("content", [b"", b"\0" * 7, (2**62).to_bytes(8, "little"), b"\2\0\0\0\0\0\0\0{}x"])
    def test_not_safetensors(self, tmp_path, good, content):
        self.changed(tmp_path, good, "numbers.safetensors (cannot be read|has no array)", content=content)

    def test_cut(self, tmp_path, good):
        self.changed(tmp_path, good, "cannot be read", content=good["arm"]["numbers.safetensors"][:-8])

    def test_a_shape_that_is_a_lie(self, tmp_path, good):
        header = b'{"links/mass": {"dtype": "F64", "shape": [1000000000000], "data_offsets": [0, 8]}}'
        content = len(header).to_bytes(8, "little") + header + bytes(8)
        self.changed(tmp_path, good, "cannot be read", content=content)

    def test_missing_and_additional(self, tmp_path, good):
        self.changed(tmp_path, good, "has no array 'links/mass'", lambda n: n.pop("links/mass"))
        self.changed(tmp_path, good, "no part of the model uses: x", lambda n: n.update(x=np.zeros(1)))

    @pytest.mark.parametrize("name", ["links/mass", "network/0/first/weight", "timestep", "constant/0/0"])
    def test_wrong_shape_type_or_value(self, name, tmp_path, good):
        for value, words in (
            (np.zeros((7, 7)), r"has shape \(7, 7\)"),
            (np.zeros(0), r"has shape \(0,\)"),
            (None, "is of type int64"),
            (np.nan, "has NaN"),
        ):

            def edit(numbers, value=value):
                shape = numbers[name].shape
                if isinstance(value, np.ndarray):
                    numbers[name] = value
                else:
                    numbers[name] = np.zeros(shape, dtype=np.int64) if value is None else np.full(shape, value)

            self.changed(tmp_path, good, f"{name} {words}", edit)


def test_what_cannot_be_read_is_one_sentence_too(tmp_path, monkeypatch):
    save_hybrid(hs.chain(1), tmp_path / "m")

    def fail(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(container.Path, "read_bytes", fail)
    with pytest.raises(HybridFileError, match=r"model.json cannot be read \(Permission denied\); make it readable"):
        load_hybrid(tmp_path / "m")
