/** RFC 9113: frame types (section 6), flags, error codes (section 7), settings (section 6.5.2). */
export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const Flag = { ACK: 0x1, END_STREAM: 0x1, END_HEADERS: 0x4, PADDED: 0x8, PRIORITY: 0x20 } as const;

export const ErrorCode = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
  HTTP_1_1_REQUIRED: 13,
} as const;

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

export function errorName(code: number): string {
  return Object.entries(ErrorCode).find(([, value]) => value === code)?.[0] ?? `0x${code.toString(16)}`;
}

export const Setting = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const;

export const FRAME_HEADER_BYTES = 9;
/** The default and minimum of SETTINGS_MAX_FRAME_SIZE. The server neither sends nor accepts larger frames. */
export const MAX_FRAME_BYTES = 16_384;
export const MAX_WINDOW = 0x7fffffff;
export const DEFAULT_WINDOW = 65_535;
export const MAX_STREAM_ID = 0x7fffffff;

/** The client's connection preface (section 3.4). */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
