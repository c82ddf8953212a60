import { promisify } from "node:util";
import { gzip } from "node:zlib";
import {
  Function as FunctionEntry,
  Line,
  Location,
  Profile,
  Sample,
  StringTable,
  ValueType,
} from "pprof-format";
import type { Frame, StackSample } from "./call-tree.ts";

export interface PprofOptions {
  /** Type and unit of each value of a sample: `["cpu", "nanoseconds"]`. `pprof` shows the last one by default. */
  readonly valueTypes: readonly (readonly [type: string, unit: string])[];
  /** Distance between two samples, in `periodType`. */
  readonly period: number;
  readonly periodType: readonly [type: string, unit: string];
  /** Nanoseconds since the epoch. */
  readonly startedAt: bigint;
  /** Nanoseconds. */
  readonly duration: number;
}

const compress = promisify(gzip);

/** Encodes samples as the gzipped `perftools.profiles.Profile` that `go tool pprof` reads. */
export async function encodePprof(samples: readonly StackSample[], options: PprofOptions): Promise<Buffer> {
  const strings = new StringTable();
  const functions = new Map<string, FunctionEntry>();
  const locations = new Map<string, Location>();
  const valueType = ([type, unit]: readonly [string, string]): ValueType =>
    new ValueType({ type: strings.dedup(type), unit: strings.dedup(unit) });
  const functionOf = ({ functionName, file }: Frame, line: number): FunctionEntry => {
    const id = `${functionName}\0${file}\0${line}`;
    let entry = functions.get(id);
    if (entry === undefined) {
      entry = new FunctionEntry({
        id: functions.size + 1,
        name: strings.dedup(functionName),
        systemName: strings.dedup(functionName),
        filename: strings.dedup(file),
        startLine: line,
      });
      functions.set(id, entry);
    }
    return entry;
  };
  const locationOf = (frame: Frame): Location => {
    const id = `${frame.functionName}\0${frame.file}\0${frame.line}`;
    let entry = locations.get(id);
    if (entry === undefined) {
      const line = new Line({ functionId: functionOf(frame, frame.line).id, line: frame.line });
      entry = new Location({ id: locations.size + 1, line: [line] });
      locations.set(id, entry);
    }
    return entry;
  };
  const profile = new Profile({
    sampleType: options.valueTypes.map(valueType),
    sample: samples.map(
      ({ stack, values }) =>
        new Sample({ locationId: stack.map((frame) => locationOf(frame).id), value: values.map(Math.round) }),
    ),
    location: [...locations.values()],
    function: [...functions.values()],
    periodType: valueType(options.periodType),
    period: options.period,
    timeNanos: options.startedAt,
    durationNanos: options.duration,
    stringTable: strings,
  });
  return await compress(profile.encode());
}
