"""The built wheel works outside the checkout, with the files that are not Python."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*arguments, cwd):
    result = subprocess.run(list(map(str, arguments)), cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.full
def test_wheel_installs_and_runs(tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    run(*build, "--wheel-dir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("bagwise-*.whl")
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site]
    run(*install, wheel, cwd=tmp_path)
    # its dependencies are borrowed from this environment; a path file there is not read, so our checkout stays unseen
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    where = run(python, "-c", "import bagwise; print(bagwise.__file__)", cwd=tmp_path)
    assert str(site) in where
    page = site / "bagwise" / "viewer" / "static"
    assert {path.suffix for path in page.iterdir()} >= {".html", ".js", ".css"}
    assert len(list((page / "vendor").iterdir())) >= 2
    command = [python, "-m", "bagwise", "train", "digits", "run", "--epochs", "1", "--data-option", "n_bags=20"]
    assert "wrote report" in run(*command, cwd=tmp_path)
    assert "Notable bags" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
