"""Commands that play Slurm's part and note what they were asked."""

import os

import pytest

SBATCH = """\
#!/bin/sh
echo "sbatch $*" >>{calls}
case "$*" in *--test-only*) exit 0 ;; esac
n=$(grep -c -- --parsable {calls})
if [ "$n" -gt {limit} ]; then echo "sbatch: error: {refusal}" >&2; exit 1; fi
echo "$((100 + n));cluster"
"""


NOTED = '#!/bin/sh\necho "{name} $*" >>{calls}\ncat {answers}/{name} 2>/dev/null || true\n'


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Return a function that puts commands on the path; sbatch refuses after some jobs. It returns what was called."""
    calls, answers, place = tmp_path / "calls", tmp_path / "answers", tmp_path / "bin"
    answers.mkdir()
    place.mkdir()
    monkeypatch.chdir(tmp_path)

    def install(limit=99, refusal="", **texts):
        commands = {
            name: NOTED.format(name=name, calls=calls, answers=answers) for name in ("squeue", "scancel", "scontrol")
        }
        commands["sbatch"] = SBATCH.format(calls=calls, limit=limit, refusal=refusal)
        for name, text in commands.items():
            (place / name).write_text(text)
            (place / name).chmod(0o755)
        for name, text in texts.items():
            (answers / name).write_text(text)
        monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
        return lambda: calls.read_text().splitlines()

    return install
