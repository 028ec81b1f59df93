"""Whether the kinds of a league fit together, and their rules work: what is wrong is an error before there is a run."""

import dataclasses
from collections.abc import Collection, Iterable, Sequence

from league.errors import InputError
from league.ids import Hash, PlayerId
from league.kinds import RESERVED, KindRules, kind_matchmaker, unknown
from league.matchmaking.asking import Matchmaker
from league.payoff import Payoff
from league.player import FROZEN, MIXTURE, SCRIPTED, Player
from league.population import Population
from league.promotion import INITIAL, NEVER, POOL, Case, PromotionConfig, due, names_file
from league.rulebook import LONGEST_NAME, UNRULED, LeagueConfig, founders, lenders


def check_recipe(config: LeagueConfig) -> None:
    """Refuse kinds that are unknown, that can never meet, whose freeze rule never fires, or that cannot be reset."""
    present = {p.kind for p in config.players.values() if p.kind not in UNRULED}
    for name, player in config.players.items():
        if player.kind not in (*config.kinds, *UNRULED):
            raise InputError(f"league.players.{name}.kind: {unknown(player.kind, [*config.kinds, *UNRULED])}")
    for kind in config.kinds:
        if kind in RESERVED or not 0 < len(kind) <= LONGEST_NAME:
            raise InputError(f"league.kinds.{kind}: this is no name for a kind; choose another one")
        rules = config.rules(kind)
        _check_names(config, rules)
        if kind in present:
            _check_company(rules, present)
            _check_freeze(config, rules)
            _check_quarry(rules)
            _check_reset(config, rules)


def rehearse_rules(config: LeagueConfig, roles: Sequence[str] = (), allow: Collection[str] = ()) -> None:
    """Load the matchmaker and the freeze rule of every kind, and ask each once: before and after a first freeze."""
    players = founders(config, roles)
    pasts = [
        Player(id=PlayerId(f"{p.id}.0"), kind=p.kind, role=p.role, parent=p.id, snapshot=Hash("rehearsal"))
        for p in players
        if p.learning
    ]
    for kind in dict.fromkeys(p.kind for p in players if p.learning):
        rules = config.rules(kind)
        try:
            ask, payoff = kind_matchmaker(rules, allow), Payoff(config.payoff)
            for population in (Population(players), Population([*players, *pasts])):
                for player in population.learning_of([kind]):
                    _ask_all(ask, player, population, payoff, roles)
                    _try_freeze(rules.promotion, player, population, payoff, allow)
        except InputError as error:
            raise InputError(f"league.kinds.{kind}: {error}") from error
        except Exception as error:
            raise InputError(f"league.kinds.{kind}: one of its rules fails on a new league: {error!r}") from error


def _ask_all(ask: Matchmaker, player: Player, population: Population, payoff: Payoff, roles: Sequence[str]) -> None:
    for role in dict.fromkeys(roles):
        ask(player, population, payoff, frozenset({role}))
    if not roles:
        ask(player, population, payoff)


def _try_freeze(
    config: PromotionConfig, player: Player, population: Population, payoff: Payoff, allow: Collection[str]
) -> None:
    case = Case(
        player=player, decisions=config.min_decisions, population=population, training=payoff, evaluation=payoff
    )
    due(case, dataclasses.replace(config, max_decisions=config.min_decisions + 1), allow)


def _check_names(config: LeagueConfig, rules: KindRules) -> None:
    """Refuse names of kinds that have no row."""
    where, makes, freezes = f"league.kinds.{rules.kind}", rules.matchmaking, rules.promotion
    reset = [] if freezes.reset in (NEVER, INITIAL) or names_file(freezes.reset) else [freezes.reset]
    for key, names, also in (
        ("matchmaking.rivals", makes.rivals, []),
        ("matchmaking.pool", makes.pool, [FROZEN, SCRIPTED, MIXTURE]),
        ("promotion.targets", freezes.targets, [POOL]),
        ("promotion.reset", reset, [NEVER, INITIAL]),
    ):
        known = [*config.kinds, *also]
        wrong = [name for name in names if name not in known]
        if wrong:
            raise InputError(f"{where}.{key}: {unknown(wrong[0], known)}")


def _check_company(rules: KindRules, present: Iterable[str]) -> None:
    """Refuse kinds that are up against nobody in this league."""
    there = sorted(present)
    for key, names in (
        ("matchmaking.rivals", rules.matchmaking.rivals),
        ("matchmaking.pool", rules.matchmaking.pool),
        ("promotion.targets", rules.promotion.targets),
    ):
        if names and not {*names} & {*there, POOL, FROZEN, SCRIPTED, MIXTURE}:
            raise InputError(
                f"league.kinds.{rules.kind}.{key}: they can never meet: nobody in league.players is of the kind "
                f"{' or '.join(map(repr, names))}; add such a player, or name one of {', '.join(there)}"
            )


def _check_freeze(config: LeagueConfig, rules: KindRules) -> None:
    """Refuse more games than ever count."""
    promotion, decay = rules.promotion, config.payoff.decay
    if promotion.rule == "score" and decay < 1 and promotion.min_games >= 1 / (1 - decay):
        raise InputError(
            f"league.kinds.{rules.kind}.promotion: this freeze rule can never fire: min_games is "
            f"{promotion.min_games:g}, but with payoff.decay={decay:g} fewer than {1 / (1 - decay):.0f} games of a "
            "pair count; lower min_games, raise payoff.decay, or use rule: decisions"
        )


def _check_quarry(rules: KindRules) -> None:
    """Refuse a quarry where no kind of player could be one."""
    if rules.promotion.quarry and not {*rules.promotion.targets} - {POOL}:
        raise InputError(
            f"league.kinds.{rules.kind}.promotion.quarry: the quarry is a past of a kind among promotion.targets, and "
            "they name none; name one, such as targets: [main]"
        )


def _check_reset(config: LeagueConfig, rules: KindRules) -> None:
    """Refuse a reset to the weights of nobody, or of other networks only."""
    source, where = rules.promotion.reset, f"league.kinds.{rules.kind}.promotion.reset"
    if source in (NEVER, INITIAL) or names_file(source):
        return
    population = Population(founders(config))
    for player in population.learning_of([rules.kind]):
        found = [p for p in population.learning_of([source]) if p.id != player.id]
        if not found:
            raise InputError(f"{where}: there is no other player of the kind {source!r} to take weights from")
        if any(p.role == player.role for p in found) and not lenders(config, player, population):
            raise InputError(
                f"{where}: {player.id} cannot take the weights of {', '.join(p.id for p in found)}, whose network "
                "differs; give both the same policy, or use reset: initial"
            )
