"""The turn player: with central inference, some slots play while the others wait for their networks' outputs."""

from collectors.envs.turns import TurnTakingEnvironment
from collectors.inference_client import InferenceClient
from collectors.recorder import Recorder
from collectors.tick_player import TickPlayer


class TurnPlayer:
    """Plays the turns of an environment.

    turns.play(now)
    if turns.stalled:
        ...                                 # no turn can go on before a message arrives
    """

    def __init__(
        self, env: TurnTakingEnvironment, client: InferenceClient, player: TickPlayer, recorder: Recorder
    ) -> None:
        self._env, self._client, self._player, self._recorder = env, client, player, recorder
        self._idle = 0  # turns in a row in which nothing could be done

    @property
    def stalled(self) -> bool:
        """Whether no turn could go on."""
        return self._idle >= len(self._env)

    @property
    def awaits_outputs(self) -> bool:
        """Whether a request to an inference process is open."""
        return any(self._client.waits(turn) for turn in range(len(self._env)))

    def play(self, now: float) -> None:
        """Play the current turn if its outputs are there, request those of its next tick, and go to the next turn."""
        self._client.receive(0.0, now)
        moved = self._play_answered(now)
        if not self._client.waits(self._env.turn):
            requested = self._request()
            self._client.receive(0.0, now)
            moved = (not moved and self._play_answered(now)) or requested or moved
        self._env.turn = (self._env.turn + 1) % len(self._env)
        self._idle = 0 if moved else self._idle + 1

    def _request(self) -> bool:
        """Request the forward passes of this turn's next tick; return False if no agent has to act."""
        rows = self._player.rows()
        if rows is None:
            return False
        numbers, entry = self._player.actors_of(rows)
        self._client.request(self._env.turn, rows, numbers, entry, lambda: self._recorder.begins(rows, entry))
        return True

    def _play_answered(self, now: float) -> bool:
        """Play this turn if all its outputs are there."""
        found = self._client.take_answered(self._env.turn)
        if found is None:
            return False
        tick, recalled = found
        if tick.memory_lost:  # what a lane has recorded does not lead to what its agents remember now
            for slot in self._env.slots_of(self._env.turn):
                self._recorder.drop(slot)
        self._player.play(tick.rows, tick.numbers, tick.entry, now, recalled)
        return True
