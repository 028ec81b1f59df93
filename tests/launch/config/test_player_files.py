from packed import packed

from collectors.envs.config import EnvConfig
from launch.config.player_files import differences_to
from league.store.player_file import read_player


def test_options_of_the_environment_matter_and_how_it_is_rendered_does_not(tmp_path):
    env = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 5})
    card = read_player(packed(tmp_path / "p", env)).card
    assert list(differences_to(card, env, card.spec)) == []
    rendered = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 5, "render_mode": "ansi"})
    assert list(differences_to(card, rendered, card.spec)) == []
    other = EnvConfig(name="rock_paper_scissors", kwargs={"max_cycles": 7})
    assert list(differences_to(card, other, card.spec)) == [
        'env.kwargs is {"max_cycles": 5} in the file and {"max_cycles": 7} here'
    ]
