"""The config groups: those of Ludus, those of installed packages, and those in a folder of the user.

with opened(Path("my_configs")) as loader:
    print(options("experiment", loader))          # ['connect_four', ..., 'mine']
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

from hydra import initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from omegaconf import Container, DictConfig, OmegaConf

from launch.config.config import ConfigError

HYDRA = "hydra/config"  # Hydra's own settings: of its logging, its launcher, its sweeper
SHORTHANDS = {"league.payoff": "by"}  # groups for which a plain value stands for one of their keys
CONF = Path(__file__).resolve().parents[2] / "conf"  # by path: a user may have a module or a folder of that name, too


@contextmanager
def opened(config_dir: Path | None) -> Iterator[ConfigLoader]:
    """Open Hydra on our groups, those of installed packages and those of a folder; our names cannot be replaced."""
    with initialize_config_dir(str(CONF), version_base="1.3", job_name="ludus"):
        loader = GlobalHydra.instance().config_loader()
        assert isinstance(loader, ConfigLoaderImpl)
        path = loader.get_search_path()
        if config_dir is not None:
            check_config_dir(config_dir, loader)
            path.prepend("config-dir", f"file://{config_dir.resolve()}", SearchPathQuery(provider="schema"))
        loader.repository = _Repository(path)
        yield loader


class _Repository(ConfigRepository):
    """Hydra's configs, with shorthands written out: Hydra would refuse a plain value for a group of keys.

    Hydra's own groups are left out: half of the files would be read for them, and nothing of them is in a config.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Repository":
        """Return a copy with the same sources: Hydra makes one to give it others, and every schema would be copied."""
        return copy(self)

    def load_config(self, config_path: str) -> ConfigResult | None:
        """Return a config, as Hydra loads it."""
        found = super().load_config(config_path)
        if found is not None and config_path == HYDRA:
            found.defaults_list = []
        if found is not None and not found.is_schema_source:
            _write_out(config_path, found.config)
        return found


def content_of(path: str, source: ConfigSource) -> dict[Any, Any]:
    """Return what a config file says, with shorthands written out."""
    config = source.load_config(path).config
    _write_out(path, config)
    content = OmegaConf.to_container(config, resolve=False)
    assert isinstance(content, dict)
    return content


def _write_out(path: str, config: Container) -> None:
    """Replace plain values of a config by the groups that they stand for."""
    if not isinstance(config, DictConfig):
        return  # a list: Hydra says what is wrong with it
    for key, own in SHORTHANDS.items():
        group, _, rest = key.partition(".")
        inside = rest if path.startswith(f"{group}/") else key  # a file of a group is about that group
        value = OmegaConf.select(config, inside)
        if isinstance(value, str):
            OmegaConf.update(config, inside, {own: value}, force_add=True)
    rows = OmegaConf.select(config, "players" if path.startswith("league/") else "league.players")
    for row in rows.values() if isinstance(rows, DictConfig) else ():
        if isinstance(row, DictConfig) and "from" in row:
            row["weights"] = row.pop("from")


def check_config_dir(folder: Path, loader: ConfigLoader) -> None:
    """Refuse a folder without groups, and a file that has the name of one of ours: it would never be read."""
    groups = groups_of(loader)
    if not folder.is_dir():
        raise ConfigError(f"--config-dir {folder}: there is no such folder")
    files = [file for group in groups for file in sorted((folder / group).rglob("*.y*ml"))]
    if not files:
        raise ConfigError(
            f"--config-dir {folder}: it has no groups. Put each config into a folder named after its group "
            f"({', '.join(groups)}), e.g. {folder / 'experiment' / 'mine.yaml'}"
        )
    for file in files:
        if file.suffix == ".yml":
            raise ConfigError(f"{file}: only files that end in .yaml are read; rename it")
        if find(str(file.relative_to(folder).with_suffix("")), loader) is not None:
            raise ConfigError(f"{file}: Ludus, or a package, has a config of this name; rename yours")


def groups_of(loader: ConfigLoader) -> list[str]:
    """Return the names of all groups but Hydra's own."""
    return [group for group in listed("", ObjectType.GROUP, loader) if group != "hydra"]


def options(group: str, loader: ConfigLoader) -> list[str]:
    """Return the options of a group; those in folders inside it are written folder/option."""
    inside = [
        f"{folder}/{option}"
        for folder in listed(group, ObjectType.GROUP, loader)
        for option in listed(f"{group}/{folder}", ObjectType.CONFIG, loader)
    ]
    return [*listed(group, ObjectType.CONFIG, loader), *inside]


def listed(group: str, kind: ObjectType, loader: ConfigLoader) -> list[str]:
    """Return the content of a group. The loader would list the same, but copies the schema of everything for it."""
    return sorted(
        {name for source in loader.get_sources() if source.is_group(group) for name in source.list(group, kind)}
    )


def find(path: str, loader: ConfigLoader) -> ConfigSource | None:
    """Return where Hydra finds a config: the first place that has it."""
    return next((source for source in loader.get_sources() if source.is_config(path)), None)


def file_of(source: ConfigSource, path: str) -> str:
    """Return the file of a config as a user would name it."""
    if source.scheme() != "file":
        return f"{source.scheme()}://{source.path}/{path}.yaml"
    folder = Path(source.path)
    if folder == CONF:
        return f"conf/{path}.yaml"
    return f"{folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder}/{path}.yaml"


def place(error: BaseException) -> str:
    """Return the file that is to blame, if Hydra's message begins with it (In 'experiment/mine': ...)."""
    text = str(error)
    if not text.startswith("In '"):
        return ""
    path = text.split("'")[1]
    source = find(path, GlobalHydra.instance().config_loader())
    return f" (in {path}.yaml)" if source is None else f" (in {file_of(source, path)})"
