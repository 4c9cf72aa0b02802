from bench.structure import import_graph, main, measures, modules_in_circles, modules_of


def package(folder, **files):
    folder.mkdir()
    for name, source in {"__init__": "", **files}.items():
        (folder / f"{name}.py").write_text(source)
    return folder


def test_circles_are_found_through_relative_and_late_imports(tmp_path):
    modules = modules_of(
        package(
            tmp_path / "pack",
            a="from pack import b\n",
            b="def late():\n    from . import c\n    return c\n",
            c="import pack.a\n",
            d="from pack.a import name\n",
        )
    )
    graph = import_graph(modules)
    assert graph == {
        "pack.a": {"pack.b"},
        "pack.b": {"pack.c"},
        "pack.c": {"pack.a"},
        "pack.d": {"pack.a"},
    }
    assert modules_in_circles(graph) == {"pack.a", "pack.b", "pack.c"}


def test_sizes_and_prose_are_counted(tmp_path):
    prose = '"""Return it.\n\n    Args:\n        first: A number.\n\n    """'
    source = (
        f'"""Say what nobody knows."""\n\n\ndef name(self, first, second):\n    {prose}\n    '
        "return first\n"
    )
    figures = measures(
        modules_of(package(tmp_path / "pack", a=source, b="x.model_copy(update={'y': 1})\n"))
    )
    assert figures["files, lines"] == "2, 12"
    assert figures["module lines: median, largest"] == "6, 11"
    assert figures["functions; lines: median, p90, largest"] == "1; 8, 8, 8"
    assert figures["parameters: p90, most"] == "2, 2"
    assert figures["docstrings, with Args, Returns or Raises"] == "2, 1"
    assert figures["pronouns per 1,000 words of docstrings"] == "200.0"
    assert figures["model_copy(update={…})"] == "1"


def test_packages_stand_side_by_side(tmp_path, capsys):
    folders = [package(tmp_path / name, a="x = 1\n") for name in ("first", "second")]
    assert main([str(folder) for folder in folders]) == 0
    printed = capsys.readouterr().out
    assert "first" in printed
    assert "second" in printed
