/** The descriptor of `test.Echo`, as connect's clients want it; every message is one string. */
import { create, type Message, toBinary } from "@bufbuild/protobuf";
import {
  fileDesc,
  type GenFile,
  type GenMessage,
  type GenService,
  serviceDesc,
} from "@bufbuild/protobuf/codegenv2";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

type Text = Message<"test.Text"> & { value: string };
type TextSchema = GenMessage<Text>;

const method = (name: string, clientStreaming = false, serverStreaming = false) => ({
  name,
  inputType: ".test.Text",
  outputType: ".test.Text",
  clientStreaming,
  serverStreaming,
});

/** test/echo.proto: a serialized FileDescriptorProto. */
export const echoFile: Uint8Array = toBinary(
  FileDescriptorProtoSchema,
  create(FileDescriptorProtoSchema, {
    name: "test/echo.proto",
    package: "test",
    syntax: "proto3",
    messageType: [
      {
        name: "Text",
        field: [
          {
            name: "value",
            number: 1,
            jsonName: "value",
            label: FieldDescriptorProto_Label.OPTIONAL,
            type: FieldDescriptorProto_Type.STRING,
          },
        ],
      },
    ],
    service: [
      {
        name: "Echo",
        method: [method("Simple"), method("Later"), method("Never"), method("Each", true, true)],
      },
    ],
  }),
);

const file: GenFile = fileDesc(Buffer.from(echoFile).toString("base64"));

export const EchoService: GenService<{
  simple: { methodKind: "unary"; input: TextSchema; output: TextSchema };
  later: { methodKind: "unary"; input: TextSchema; output: TextSchema };
  never: { methodKind: "unary"; input: TextSchema; output: TextSchema };
  each: { methodKind: "bidi_streaming"; input: TextSchema; output: TextSchema };
}> = serviceDesc(file, 0);
