"""One case of the judges by Python's grpcio: grpcio.py CASE ADDRESS CA PARAMETERS, the last as JSON."""

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
notes, services = grpc.protos_and_services("judge.proto")
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


def unary(channel, judge):
    for size in (0, 1, 1000, 16_379, 16_384, 100_000):
        note = Note(text=given["greeting"], payload=bytes(size))
        check(judge.Echo(note, timeout=PATIENCE) == note, f"another answer of {size} bytes")


def concurrent(channel, judge):
    calls = [judge.Echo.future(Note(count=index), timeout=PATIENCE) for index in range(500)]
    check([call.result().count for call in calls] == list(range(500)), "answers were mixed up")


def deadline(channel, judge):
    late = lambda: judge.Wait(Note(text=given["text"]), timeout=given["deadlineMs"] / 1000)
    expect_status(grpc.StatusCode.DEADLINE_EXCEEDED, late)


def cancel(channel, judge):
    call = judge.Wait.future(Note(text=given["text"]), timeout=PATIENCE)
    judge.Arrived(Note(text=given["text"]), timeout=PATIENCE)
    call.cancel()
    judge.Gone(Note(text=given["text"]), timeout=PATIENCE)
    check(call.cancelled(), "the call is not cancelled")


def large(channel, judge):
    note = Note(payload=b"m" * given["large"])
    check(judge.Echo(note, timeout=PATIENCE) == note, "another answer")


def too_large(channel, judge):
    note = Note(payload=b"m" * given["tooLarge"])
    expect_status(grpc.StatusCode.RESOURCE_EXHAUSTED, lambda: judge.Echo(note, timeout=PATIENCE))


def gzip(channel, judge):
    note = Note(payload=b"gzip me " * (given["zippable"] // 8))
    answer = judge.Echo(note, timeout=PATIENCE, compression=grpc.Compression.Gzip)
    check(answer == note, "another answer")


def server_streaming(channel, judge):
    asked = given["streamed"]
    seen = 0
    for note in judge.Count(Note(count=asked["count"], payload=b"s" * asked["bytes"]), timeout=PATIENCE):
        check(note.count == seen and len(note.payload) == asked["bytes"], f"another message {seen}")
        seen += 1
    check(seen == asked["count"], f"{seen} messages")


def client_streaming(channel, judge):
    asked = given["summed"]
    notes = (Note(payload=b"s" * asked["bytes"]) for _ in range(asked["count"]))
    answer = judge.Sum(notes, timeout=PATIENCE)
    check(answer == Note(count=asked["count"], text=asked["text"]), f"another sum: {answer}")


def bidirectional_streaming(channel, judge):
    counts = range(100)
    answers = judge.Talk((Note(count=index) for index in counts), timeout=PATIENCE)
    check([note.count for note in answers] == list(counts), "other messages")


def metadata(channel, judge):
    raw = bytes.fromhex(given["raw"])
    sent = (("x-judge-word", given["word"]), ("x-judge-raw-bin", raw))
    _, call = judge.Echo.with_call(Note(), metadata=sent, timeout=PATIENCE)
    for fields, prefix in ((call.initial_metadata(), "x-judge-"), (call.trailing_metadata(), "x-judge-end-")):
        fields = {field.key: field.value for field in fields}
        check(fields.get(prefix + "word") == given["word"], f"{prefix}word: {fields}")
        check(fields.get(prefix + "raw-bin") == raw, f"{prefix}raw-bin: {fields}")


def failure(channel, judge):
    error = expect_status(
        grpc.StatusCode.NOT_FOUND, lambda: judge.Fail(Note(text=given["failure"]), timeout=PATIENCE)
    )
    check(error.details() == given["failure"], error.details())


def health_check(channel, judge):
    health = health_pb2_grpc.HealthStub(channel)
    answer = health.Check(health_pb2.HealthCheckRequest(service=""), timeout=PATIENCE)
    check(answer.status == health_pb2.HealthCheckResponse.SERVING, answer)
    unknown = health_pb2.HealthCheckRequest(service="nobody knows")
    expect_status(grpc.StatusCode.NOT_FOUND, lambda: health.Check(unknown, timeout=PATIENCE))


def health_watch(channel, judge):
    request = health_pb2.HealthCheckRequest(service=given["text"])
    watch = health_pb2_grpc.HealthStub(channel).Watch(request, timeout=PATIENCE)
    seen = []
    for answer in watch:
        seen.append(answer.status)
        if len(seen) == 3:
            watch.cancel()
            break
        judge.SetHealth(Note(text=given["text"], count=len(seen)), timeout=PATIENCE)
    check(seen == [3, 1, 2], f"statuses {seen}")


def reflection(channel, judge):
    database = ProtoReflectionDescriptorDatabase(channel)
    listed = set(database.get_services())
    for name in ("judge.Judge", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"):
        check(name in listed, f"{name} is not listed: {listed}")
    pool = descriptor_pool.DescriptorPool(database)
    method = pool.FindServiceByName("judge.Judge").FindMethodByName("Echo")
    Reflected = message_factory.GetMessageClass(method.input_type)
    echo = channel.unary_unary(
        "/judge.Judge/Echo",
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
    trials[case](channel, services.JudgeStub(channel))
