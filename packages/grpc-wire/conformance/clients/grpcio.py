"""One conformance case, run by Python's grpcio: grpcio.py CASE ADDRESS CA PARAMETERS, the last as JSON."""

import json
import sys

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

case, address, ca, text = sys.argv[1:]
given = json.loads(text)
PATIENCE = 10

sys.path.insert(0, given["protoFolder"])
notes, services = grpc.protos_and_services("conformance.proto")
Note = notes.Note


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def expect_status(status, call):
    try:
        call()
    except grpc.RpcError as error:
        check(error.code() == status, f"{error.code()} instead of {status}: {error.details()}")
        return error
    raise AssertionError(f"OK instead of {status}")


def unary(channel, probe):
    for size in (0, 1, 1000, 16_379, 16_384, 100_000):
        note = Note(text=given["greeting"], payload=bytes(size))
        check(probe.Echo(note, timeout=PATIENCE) == note, f"another answer of {size} bytes")


def concurrent(channel, probe):
    calls = [probe.Echo.future(Note(count=index), timeout=PATIENCE) for index in range(500)]
    check([call.result().count for call in calls] == list(range(500)), "answers were mixed up")


def deadline(channel, probe):
    late = lambda: probe.Wait(Note(text=given["text"]), timeout=given["deadlineMs"] / 1000)
    expect_status(grpc.StatusCode.DEADLINE_EXCEEDED, late)


def cancel(channel, probe):
    call = probe.Wait.future(Note(text=given["text"]), timeout=PATIENCE)
    probe.Arrived(Note(text=given["text"]), timeout=PATIENCE)
    call.cancel()
    probe.Gone(Note(text=given["text"]), timeout=PATIENCE)
    check(call.cancelled(), "the call is not cancelled")


def large(channel, probe):
    note = Note(payload=b"m" * given["large"])
    check(probe.Echo(note, timeout=PATIENCE) == note, "another answer")


def too_large(channel, probe):
    note = Note(payload=b"m" * given["tooLarge"])
    expect_status(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: probe.Echo(note, timeout=PATIENCE))


def gzip(channel, probe):
    note = Note(payload=b"gzip me " * (given["zippable"] // 8))
    answer = probe.Echo(note, timeout=PATIENCE, compression=grpc.Compression.Gzip)
    check(answer == note, "another answer")


def server_streaming(channel, probe):
    asked = given["streamed"]
    seen = 0
    for note in probe.Count(Note(count=asked["count"], payload=b"s" * asked["bytes"]), timeout=PATIENCE):
        check(note.count == seen and len(note.payload) == asked["bytes"], f"another message {seen}")
        seen += 1
    check(seen == asked["count"], f"{seen} messages")


def client_streaming(channel, probe):
    asked = given["summed"]
    notes = (Note(payload=b"s" * asked["bytes"]) for _ in range(asked["count"]))
    answer = probe.Sum(notes, timeout=PATIENCE)
    check(answer == Note(count=asked["count"], text=asked["text"]), f"another sum: {answer}")


def bidirectional_streaming(channel, probe):
    counts = range(100)
    answers = probe.Talk((Note(count=index) for index in counts), timeout=PATIENCE)
    check([note.count for note in answers] == list(counts), "other messages")


def metadata(channel, probe):
    raw = bytes.fromhex(given["raw"])
    sent = (("x-probe-word", given["word"]), ("x-probe-raw-bin", raw))
    _, call = probe.Echo.with_call(Note(), metadata=sent, timeout=PATIENCE)
    for fields, prefix in ((call.initial_metadata(), "x-probe-"), (call.trailing_metadata(), "x-probe-end-")):
        fields = {field.key: field.value for field in fields}
        check(fields.get(prefix + "word") == given["word"], f"{prefix}word: {fields}")
        check(fields.get(prefix + "raw-bin") == raw, f"{prefix}raw-bin: {fields}")


def failure(channel, probe):
    error = expect_status(
        grpc.StatusCode.NOT_FOUND, lambda: probe.Fail(Note(text=given["failure"]), timeout=PATIENCE)
    )
    check(error.details() == given["failure"], error.details())


def health_check(channel, probe):
    health = health_pb2_grpc.HealthStub(channel)
    answer = health.Check(health_pb2.HealthCheckRequest(service=""), timeout=PATIENCE)
    check(answer.status == health_pb2.HealthCheckResponse.SERVING, answer)
    unknown = health_pb2.HealthCheckRequest(service="nobody knows")
    expect_status(grpc.StatusCode.NOT_FOUND, lambda: health.Check(unknown, timeout=PATIENCE))


def health_watch(channel, probe):
    request = health_pb2.HealthCheckRequest(service=given["text"])
    watch = health_pb2_grpc.HealthStub(channel).Watch(request, timeout=PATIENCE)
    seen = []
    for answer in watch:
        seen.append(answer.status)
        if len(seen) == 3:
            watch.cancel()
            break
        probe.SetHealth(Note(text=given["text"], count=len(seen)), timeout=PATIENCE)
    check(seen == [3, 1, 2], f"statuses {seen}")


def reflection(channel, probe):
    database = ProtoReflectionDescriptorDatabase(channel)
    listed = set(database.get_services())
    for name in ("conformance.Probe", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"):
        check(name in listed, f"{name} is not listed: {listed}")
    pool = descriptor_pool.DescriptorPool(database)
    method = pool.FindServiceByName("conformance.Probe").FindMethodByName("Echo")
    Reflected = message_factory.GetMessageClass(method.input_type)
    echo = channel.unary_unary(
        "/conformance.Probe/Echo",
        request_serializer=Reflected.SerializeToString,
        response_deserializer=Reflected.FromString,
    )
    check(echo(Reflected(text="by reflection"), timeout=PATIENCE).text == "by reflection", "another answer")
    pool.FindServiceByName("grpc.health.v1.Health")
    database.FindFileContainingSymbol("grpc.reflection.v1.ServerReflection")


trials = {
    "unary": unary,
    "concurrent": concurrent,
    "deadline": deadline,
    "cancel": cancel,
    "4 MB both ways": large,
    "5 MB is RESOURCE_EXHAUSTED": too_large,
    "gzip both ways": gzip,
    "server streaming": server_streaming,
    "client streaming": client_streaming,
    "bidirectional streaming": bidirectional_streaming,
    "metadata, -bin too": metadata,
    "status with Unicode": failure,
    "health Check": health_check,
    "health Watch": health_watch,
    "reflection": reflection,
}

if ca:
    with open(ca, "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    opened = grpc.secure_channel(address, credentials)
else:
    opened = grpc.insecure_channel(address)
with opened as channel:
    trials[case](channel, services.ProbeStub(channel))
