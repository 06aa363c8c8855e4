"""Every record that can be stored can be visible, in terminals of any width, without characters that control them."""

from __future__ import annotations

import unicodedata
from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st

from abstractcore.schema import visible
from abstractcore.testing import strategies
from abstractcore.traces import Trace, TraceNode
from abstractcore_cli.tracing.bars import ASCII, UNICODE
from abstractcore_cli.tracing.conversations import Conversation
from abstractcore_cli.tracing.trees import _facts, _tree_lines  # pyright: ignore[reportPrivateUsage]

records = st.one_of(strategies.call_records(), strategies.interaction_records(), strategies.tool_records())


@settings(max_examples=30)
@given(records, st.lists(records, max_size=3), st.sampled_from([0, 10, 40, 120]), st.sampled_from([ASCII, UNICODE]))
def test_every_record_has_a_tree_and_a_conversation(root, below, width, ink):
    nodes = [TraceNode(record, depth=1) for record in below]
    trace = Trace(TraceNode(root, children=nodes))
    facts = [value for _, value in _facts(trace)]
    tree = [*_tree_lines(trace, ink, width)]
    conversation = [*Conversation().lines(node.record for node in trace)]
    text = visible("".join(chain(facts, (piece for line in (*tree, *conversation) for piece, _ in line))))
    assert len(tree) > len(below)
    assert not {each for each in text if unicodedata.category(each) == "Cc" and each not in "\t\n"}
    assert all("\n" not in piece for line in (*tree, *conversation) for piece, _ in line)
