import subprocess
import sys

import pytest
from bound_networks import SPEC, bound

from league.plugins import PluginError
from league.policies.binding import bind, check_network
from league.policies.layout import BoundPolicy, PolicyConfig, describe, plain_policy, policy_from


def test_only_an_allowed_package_gets_its_code():
    config = PolicyConfig(name="foreign_networks:Window")
    with pytest.raises(PluginError, match=r"'foreign_networks' is not allowed.*--allow foreign_networks"):
        bind(config, SPEC, [])
    assert isinstance(bind(config, SPEC, ["foreign_networks"]), BoundPolicy)
    with pytest.raises(ValueError, match="is not loaded"):
        describe(config, SPEC)


def test_a_builtin_network_needs_no_code():
    config = PolicyConfig()
    assert bind(config, SPEC, []) is config


@pytest.mark.parametrize("name", ["flat", "WindowConfig", "NETWORKS"])
def test_what_is_no_network_is_refused(name):
    with pytest.raises(PluginError, match="is no network"):
        check_network(PolicyConfig(name=f"foreign_networks:{name}"), ["foreign_networks"])


def test_settings_are_the_same_with_and_without_code():
    config = PolicyConfig(name="foreign_networks:Window", kwargs={"width": 8})
    assert bound("Window", kwargs={"width": 8}) == config
    assert policy_from(plain_policy(config)) == config
    assert "kwargs" not in plain_policy(PolicyConfig())


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"kwargs": {"width": 3}}, "policy.kwargs are for networks on the contract"),
        ({"name": "nothing"}, "unknown network 'nothing'"),
        ({"name": "structured", "critic": "none"}, "sac and discrete_sac have it: they train only the networks mlp, "),
        ({"name": "a:B", "memory": "gru"}, "policy.memory: the network a:B brings its own; set policy.memory=none"),
        ({"name": "a:B", "critic": "central"}, "set policy.critic=shared"),
        ({"name": "a:B", "normalise": True}, "set policy.normalise=false"),
    ],
)
def test_settings_that_do_not_fit_are_refused(wrong, why):
    with pytest.raises(ValueError, match=why):
        PolicyConfig(**wrong)


def test_collectors_import_no_torch_without_such_a_player():
    code = "import sys, collectors.collector, collectors.inference_client; print('torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip() == "False"
