"""A freeze rule of your own: one pure function that says why a player is frozen now, or None.

ludus run --allow own_freeze_rule league.promotion.rule=own_freeze_rule:ahead +league.promotion.settings.score=0.6
"""

from league.promotion import Case, PromotionConfig


def ahead(case: Case, config: PromotionConfig) -> str | None:
    """Freeze a player that scores enough against each of its targets, without waiting until that is sure."""
    targets = [p.id for p in case.targets(config)]
    if not targets or min(case.training.games(case.player.id, p) for p in targets) < config.min_games:
        return None
    lowest = float(case.training.scores(case.player.id, targets).min())
    return f"scores at least {lowest:.2f} against everybody" if lowest >= config.settings["score"] else None
