import time

import msgspec
import numpy as np
import pytest

from league.player import Status
from league.ticket import Entry, Episode, Fault, Purpose, Result, Ticket
from league.wire import codec
from league.wire.codec import DTYPES, MAX_ARRAYS, WireError, WrongVersionError, decode, encode
from league.wire.messages import (
    WIRE_VERSION,
    Ack,
    Answer,
    Ask,
    Assignment,
    BufferStatus,
    Candidate,
    Challenge,
    Command,
    Credit,
    Done,
    FetchFold,
    FindBuffer,
    FoldChunk,
    Follow,
    Held,
    Host,
    Message,
    Note,
    Orders,
    Page,
    Progress,
    Pull,
    Refused,
    ReleasePlayer,
    Report,
    Role,
    Roster,
    SampleReply,
    SampleRequest,
    SegmentsHead,
    Verdict,
    Watch,
    Weights,
    Worker,
)

EPISODE = Episode((0, 1), (1.0, -1.0), 12, b"\x00\x01\x02")
TICKET = Ticket(number=7, purpose=Purpose.TRAIN, entries=(Entry("main"), Entry("old", "ab" * 32)), episodes=4)
MESSAGES: list[Message] = [
    Report(
        request=3, name="collector-0", session="s", want=2, held=(Held(1, 0, 99),), starved=("main",), directory=4,
        results=(Result(ticket=7, attempt=1, episodes=(EPISODE, EPISODE)),),
        faults=(Fault(ticket=8, attempt=0, reason="the environment raised: ünicode"),), metrics={"wait": 0.25},
    ),
    Orders(
        term=2, request=3, acks=(Ack(7, 1, Verdict.ACCEPTED),), tickets=(TICKET,), revoked=((9, 1),), directory=5,
        hosts=(Host(player="main", incarnation=1, address="tcp://a:1"),),
    ),
    Progress(
        request=1, name="learner-0", session="s", address="ipc:///x",
        candidates=(Candidate(player="main", incarnation=0, version=1, snapshot="cd" * 32, decisions=5),),
        finished=("main",), metrics={"loss": 1.5}, host="node-7",
    ),
    Roster(term=1, request=1, players=(Assignment(player="main", incarnation=0, start="ab" * 32),), stop=True),
    Follow(request=1, since=10),
    Follow(request=2, since=10, measured=3),
    Note(request=3, name="wandb", text="here"),
    FetchFold(request=4, digest="0" * 64, offset=9),
    FoldChunk(term=1, request=4, seq=10, digest="0" * 64, size=20, offset=9, data=b"piece"),
    Page(
        term=1, request=1, since=10, events=(b'{"event":"x"}',), head=11, elapsed=1.5, seconds_left=3.0,
        workers=(
            Worker(
                name="c", role=Role.COLLECTOR, age=0.5, metrics={"fps": 1e3}, host="n", restarts=2, held=9, plays=(7,)
            ),
        ),
    ),
    Command(request=1, action="pause"),
    Challenge(request=1, session="s", name="ada", opponent="main", role="fox"),
    Done(term=1, request=1, error="no such action"),
    SegmentsHead(name="c", session="s", player="main", incarnation=0, decisions=1000),
    Pull(name="c", session="s", player="main", incarnation=0, version=-1),
    Weights(player="main", incarnation=0, version=4),
    Credit(player="main", incarnation=0, version=4, allowance=4096),
    Watch(session="s", address="ipc:///x", known={"main": (0, 4)}, metrics={"wait_share": 0.5}),
    Ask(session="s", turn=1, request=7, player="main", incarnation=0),
    Answer(turn=1, request=7, player="main", version=4, memory="s/1"),
    FindBuffer(session="s"),
    BufferStatus(session="s", address="ipc:///x", known={"main": (0, 4)}, metrics={"wait_share": 0.5}),
    ReleasePlayer(session="s", player="main", incarnation=0),
    SampleRequest(session="s", player="main", incarnation=0, request=3, ring="b/0"),
    SampleReply(
        session="s", player="main", incarnation=0, request=3, ring="b/0", left=31, size=2000, reuse=1.5
    ),
    Refused(reason="another wire version"),
]  # fmt: skip
ARRAYS = {
    "mask": np.array([[True, False]]),
    "action": np.arange(6, dtype=np.int32).reshape(2, 3),
    "reward": np.linspace(0, 1, 5, dtype=np.float32),
    "none": np.zeros((0, 3), np.uint8),
    "one": np.float64(2.5).reshape(()),
}


def test_the_samples_cover_every_kind_of_message():
    assert {type(message) for message in MESSAGES} == set(Message.__args__)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("arrays", [{}, ARRAYS], ids=["bare", "with_arrays"])
def test_what_is_encoded_decodes_to_the_same(message, arrays):
    found, found_arrays = decode([bytes(frame) for frame in encode(message, arrays)])
    assert found == message
    assert list(found_arrays) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found_arrays[name], array, strict=True)


@pytest.mark.parametrize("code", DTYPES)
def test_every_allowed_dtype_travels(code):
    array = np.array([[0, 1], [1, 0]]).astype(code)
    _, arrays = decode(encode(MESSAGES[-1], {"a": array}))
    np.testing.assert_array_equal(arrays["a"], array, strict=True)


def test_a_strided_array_travels_as_what_it_shows():
    array = np.arange(24, dtype=np.int16).reshape(4, 6)[::2, ::-3]
    np.testing.assert_array_equal(decode(encode(MESSAGES[-1], {"a": array}))[1]["a"], array, strict=True)


def test_arrays_are_not_copied_and_what_arrives_is_read_only():
    array = np.zeros(4, np.int32)
    frames = encode(MESSAGES[-1], {"a": array})
    found = decode(frames)[1]["a"]
    array[0] = 7
    assert found[0] == 7  # a view of the very frame, which is a view of the array
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1


def test_another_version_is_told_with_both_versions_and_a_remedy():
    frames = encode(MESSAGES[-1])
    with pytest.raises(WrongVersionError, match=f"version 999, this process speaks {WIRE_VERSION}; install the same"):
        decode([b"ludus/999", *frames[1:]])
    with pytest.raises(WireError, match="not a Ludus message"):
        decode([b"GET / HTTP/1.1", *frames[1:]])


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (Report(request=1, name="c", session="s", metrics={"ok": 1.0, "loss": float("nan")}), "Report.metrics"),
        (Report(request=1, name="c", session="s", results=(
            Result(ticket=1, attempt=0, episodes=(EPISODE, Episode((0, 1), (1.0, float("inf")), 3))),
        )), "Report.results"),
        (Progress(request=1, name="l", session="s", address="a", metrics={"x": float("-inf")}), "Progress.metrics"),
        (Page(term=1, request=1, since=0, events=(), head=0, elapsed=float("nan")), "Page.elapsed"),
        (Page(term=1, request=1, since=0, events=(), head=0, seconds_left=float("nan")), "Page.seconds_left"),
        (Page(term=1, request=1, since=0, events=(), head=0, workers=(
            Worker(name="w", role=Role.VIEWER, age=float("inf"), metrics={}),
        )), "Page.workers"),
    ],
)  # fmt: skip
def test_numbers_that_are_not_finite_are_refused_at_both_ends(message, field):
    with pytest.raises(WireError, match=field):
        encode(message)
    with pytest.raises(WireError, match=rf"Expected `float` .* at `\$\.{field.partition('.')[2]}"):
        decode([codec.VERSION_FRAME, msgspec.msgpack.encode(message)])


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"a": np.array([1.0, np.nan])}, "'a' holds NaN"),
        ({"a": np.array([np.inf], np.float16)}, "'a' holds NaN"),
        ({"a": np.array([1], ">i4")}, "dtype >i4; allowed are"),
        ({"a": np.array(["text"])}, "dtype <U4"),
        ({"a": np.array([object()])}, "dtype object"),
        ({"a": np.array([1j])}, "dtype complex128"),
        ({"a" * 65: np.zeros(1)}, "1 to 64 characters"),
        ({"a": np.zeros((1,) * 9)}, "at most 8 dimensions"),
        ({str(i): np.zeros(1) for i in range(MAX_ARRAYS + 1)}, "65 arrays in a message"),
    ],
)
def test_arrays_that_may_not_travel_are_refused_by_name(arrays, reason):
    with pytest.raises(WireError, match=reason):
        encode(MESSAGES[-1], arrays)


@pytest.mark.parametrize(
    "message",
    [
        Refused(reason=Status),
        Refused(reason="a file called \udcff"),
        Credit(player="p", incarnation=0, version=0, allowance=2**70),
        Report(request=1, name="c", session="s", metrics={"x": "text"}),
        "not a message",
    ],
)
def test_what_cannot_be_encoded_is_a_wire_error(message):
    with pytest.raises(WireError, match="cannot be sent"):
        encode(message)


NAN = np.array([np.nan], np.float32).tobytes()


@pytest.mark.parametrize(
    ("heads", "buffers", "reason"),
    [
        ([("a", "<f4", (2,))], [b"1234"], "does not fit 4 bytes"),
        ([("a", "<f4", (2**62, 4))], [b""], "does not fit 0 bytes"),
        ([("a", "<f4", (0, 2**63))], [b""], "ValueError"),
        ([("a", "<f4", (-1,))], [b"1234"], "ValidationError"),
        ([("a", "<f4", (1,) * 9)], [b"1234"], "ValidationError"),
        ([("a", "|O8", (1,))], [b"12345678"], "dtype '.O8'"),
        ([("a", "|V4", (1,))], [b"1234"], "dtype '.V4'"),
        ([("", "<f4", (1,))], [b"1234"], "ValidationError"),
        ([("a" * 65, "<f4", (1,))], [b"1234"], "ValidationError"),
        ([("a", "|u1", (1,)), ("a", "|u1", (1,))], [b"1", b"2"], "comes twice"),
        ([("a", "|u1", (1,))], [b"1", b"2"], "1 array heads but 2 buffers"),
        ([("a", "<f4", (1,))], [NAN], "'a' holds NaN"),
        ([("a", "|b1", (1,))], [b"\x02"], "other than 0 and 1"),
    ],
)
def test_array_heads_that_lie_are_refused(heads, buffers, reason):
    frames = [*encode(MESSAGES[-1]), msgspec.msgpack.encode(heads), *buffers]
    with pytest.raises(WireError, match=reason):
        decode(frames)


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [codec.VERSION_FRAME],
        [b"", b""],
        [codec.VERSION_FRAME, b""],
        [codec.VERSION_FRAME, b"\x91" * 100_000],
        [codec.VERSION_FRAME, msgspec.msgpack.encode({"kind": "refused", "reason": "x", "extra": 1})],
        [codec.VERSION_FRAME, msgspec.msgpack.encode({"kind": "no such kind"})],
        [codec.VERSION_FRAME, b"\x82\xa4kind\xa7refused\xa6reason\xa2\xff\xff"],
        [codec.VERSION_FRAME] * (codec.MAX_FRAMES + 1),
    ],
)
def test_frames_that_are_no_message_are_refused(frames):
    with pytest.raises(WireError):
        decode(frames)


def mutate(frames: list[bytes], rng: np.random.Generator) -> list[bytes]:
    """Change, cut, lengthen, repeat, drop or swap: one to three wounds."""
    frames = list(frames)
    for wound in rng.integers(0, 8, size=int(rng.integers(1, 4))).tolist():
        place = int(rng.integers(0, len(frames))) if frames else 0
        frame = bytearray(frames[place]) if frames else bytearray()
        spot = int(rng.integers(0, len(frame) + 1))
        if wound <= 2 and spot < len(frame):
            frame[spot] = int(rng.integers(0, 256))
        elif wound == 3:
            frame = frame[:spot]
        elif wound == 4:
            frame[spot:spot] = rng.bytes(4)
        elif wound == 5:
            frames.insert(place, bytes(frame))
        elif wound == 6 and len(frames) > 1:
            frames.pop()
        elif frame:
            frame[spot - 1] ^= 1 << int(rng.integers(0, 8))
        if place < len(frames):
            frames[place] = bytes(frame)
    return frames


@pytest.mark.slow
def test_100_000_mutations_raise_nothing_but_wire_errors():
    rng = np.random.default_rng(20261116)
    originals = [[bytes(f) for f in encode(m, arrays)] for m in MESSAGES for arrays in ({}, ARRAYS)]
    refused = 0
    start = time.perf_counter()
    for number in range(100_000):
        frames = mutate(originals[number % len(originals)], rng)
        try:
            message, arrays = decode(frames)
        except WireError:
            refused += 1
        else:
            encode(message, arrays)  # what was let in is valid: it can be sent on
    print(f"100,000 mutations in {time.perf_counter() - start:.1f} s: {refused:,} refused, the rest valid")
    assert 50_000 < refused < 100_000
