"""Files from strangers: nothing is expanded, fetched or guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from hybridsim import ModelError
from hybridsim.load.edit_xml import Document
from hybridsim.load.xml import line_of, parse_xml


def written(tmp_path, text: str | bytes):
    path = tmp_path / "robot.urdf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


LAUGHS = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))


class TestParse:
    def test_keeps_comments_white_space_and_lines(self, tmp_path):
        text = "<robot>\n  <!-- here -->\n  <link name='a'/>\n</robot>"
        tree = parse_xml(written(tmp_path, text))
        assert etree.tostring(tree).decode() == text.replace("'", '"')
        assert line_of(tree.getroot().find("link")) == "line 3"

    @pytest.mark.parametrize("use", ["<robot>&a11;</robot>", '<robot name="&a11;"/>', "<robot/>"])
    def test_entity_bombs_are_refused(self, tmp_path, use):
        """Expanded, they would be more than any memory holds."""
        path = written(tmp_path, f"<!DOCTYPE robot [{LAUGHS}]>{use}")
        with pytest.raises(ModelError, match=r"entit.*write"):
            parse_xml(path)

    @pytest.mark.parametrize("declaration", ['<!ENTITY x SYSTEM "{}">', '<!ENTITY % x SYSTEM "{}"> %x;'])
    def test_other_files_are_not_read(self, tmp_path, declaration):
        secret = tmp_path / "secret"
        secret.write_text("<!ENTITY y 'secret'>")
        path = written(tmp_path, f"<!DOCTYPE robot [{declaration.format(secret.as_uri())}]><robot>&x;</robot>")
        with pytest.raises(ModelError) as error:
            parse_xml(path)
        assert "secret" not in str(error.value)

    def test_a_doctype_alone_is_harmless(self, tmp_path):
        path = written(tmp_path, '<!DOCTYPE robot SYSTEM "http://localhost:1/robot.dtd"><robot/>')
        assert parse_xml(path).getroot().tag == "robot"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("<robot>\n<link>\n</robot>", r"robot.urdf, line 3: broken XML: .*; every element must be closed"),
            ('<robot a="&"/>', "& written as &amp;"),
            ("", "line 1: .*the file is empty"),
            ('{"robot": 1}', "does not look like XML; give a URDF or MJCF file"),
            ("<robot><xacro:macro/></robot>", "Namespace prefix xacro.*declare the prefix"),
        ],
    )
    def test_broken_files(self, tmp_path, text, message):
        with pytest.raises(ModelError, match=message):
            parse_xml(written(tmp_path, text))

    def test_missing_file_and_folder(self, tmp_path):
        with pytest.raises(ModelError, match=r"arm.urdf: there is no such file; the current folder is /"):
            parse_xml(tmp_path / "arm.urdf")
        with pytest.raises(ModelError, match="it cannot be read"):
            parse_xml(tmp_path)

    @given(text=st.binary(max_size=40) | st.text("<>/&!['\"robt =]-", max_size=40).map(str.encode))
    def test_any_bytes_are_xml_or_refused(self, text, tmp_path_factory):
        path = written(tmp_path_factory.mktemp("fuzz"), text)
        try:
            parse_xml(path)
        except ModelError as error:
            assert str(path) in str(error)  # noqa: PT017


class TestDocument:
    """Edits change nothing but the characters they are about."""

    def edited(self, tmp_path, text: str | bytes, edit) -> str:
        document = Document(written(tmp_path, text))
        edit(document.root)
        return document.text()

    def test_no_edit_no_change(self, tmp_path):
        text = "<?xml version='1.0'?>\r\n<!-- a -->\r\n<robot  name = 'x' ><a/><b ></b >\r\n</robot>\r\n<!-- z -->"
        assert self.edited(tmp_path, text, lambda root: None) == text

    def test_attributes_keep_their_place(self, tmp_path):
        text = "<robot>\n  <a  y = '1'\n     x='2>\"' z=\"3\" /> <!-- <a y='1'> -->\n</robot>"
        changed = self.edited(tmp_path, text, lambda root: root.find("a").set("y", "1.5"))
        assert changed == text.replace("y = '1'", 'y = "1.5"', 1)

    def test_new_attributes_come_last(self, tmp_path):
        def edit(root):
            root[0].set("x", "<&>")
            root[1].set("x", "2")

        text = self.edited(tmp_path, "<r><a/><b y='1' ></b></r>", edit)
        assert text == """<r><a x="&lt;&amp;&gt;"/><b y='1' x="2" ></b></r>"""

    def test_an_attribute_is_not_mistaken_for_another(self, tmp_path):
        text = """<r><a xx="1" y=" x='3' " x="2" z="x=3"/></r>"""
        assert self.edited(tmp_path, text, lambda root: root[0].set("x", "4")) == text.replace("2", "4")

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("<r>\n\t<a/>\n</r>", '<r>\n\t<a>\n\t\t<n v="1"/>\n\t</a>\n</r>'),
            ("<r>\n    <a></a>\n</r>", '<r>\n    <a>\n        <n v="1"/>\n    </a>\n</r>'),
            ("<r>\r\n <a>\r\n  <b/>\r\n </a>\r\n</r>", '<r>\r\n <a>\r\n  <n v="1"/>\r\n  <b/>\r\n </a>\r\n</r>'),
        ],
    )
    def test_new_elements_are_indented_like_the_file(self, tmp_path, before, after):
        assert self.edited(tmp_path, before, lambda root: etree.SubElement(root[0], "n", v="1")) == after

    @pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "utf-16"])
    def test_encodings(self, tmp_path, encoding):
        text = f'<?xml version="1.0" encoding="{encoding}"?>\n<robot name="Gr\u00f6\u00dfe"><a x="1"/></robot>'
        document = Document(written(tmp_path, text.encode(encoding)))
        document.root.find("a").set("x", "2")
        document.write(tmp_path / "out.urdf", check=lambda path: None)
        assert (tmp_path / "out.urdf").read_bytes().decode(encoding) == text.replace('x="1"', 'x="2"')

    def test_a_failed_check_leaves_everything_as_it_was(self, tmp_path):
        path = written(tmp_path, "<robot/>")
        document = Document(path)
        document.root.set("name", "x")

        def check(path):
            raise ModelError("no")

        with pytest.raises(ModelError, match="no"):
            document.write(path, check)
        assert path.read_text() == "<robot/>"
        assert list(tmp_path.iterdir()) == [path]
