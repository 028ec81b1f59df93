"""Episodic return and length. test_curves.py compares the curves with the episodes of a league."""

from launch.viewers.episodes import Episodes
from league.ticket import Entry, Episode, Purpose, Ticket


def test_means_are_of_training_episodes_and_begin_again():
    entries, episodes = (Entry("main"), Entry("random", None, "random")), Episodes()
    played = (Episode((0, 1), (1.0, -1.0), 5), Episode((1, 0), (-0.5, 0.5), 8))
    train = Ticket(number=1, purpose=Purpose.TRAIN, entries=entries, episodes=2, trains=("main",))
    episodes.add(train, played)
    episodes.add(Ticket(number=2, purpose=Purpose.EVALUATE, entries=entries, episodes=2), played)
    assert episodes.take() == {"charts/episodic_return/main": 0.25, "charts/episodic_length": 6.5}
    assert episodes.take() == {}
