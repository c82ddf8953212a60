/** Limits of the built-in server. Times are in milliseconds; 0 switches a limit off. */
export interface ServerLimits {
  /** Time to receive a request's headers. Default 20,000. */
  headersTimeout?: number;
  /** Time to receive a whole request with its body. Default 120,000. */
  requestTimeout?: number;
  /** Idle time between two requests of one connection. Default 65,000: longer than usual proxies wait. */
  keepAliveTimeout?: number;
  /** Time without progress while a client reads its answer. Default 60,000. */
  sendTimeout?: number;
  /** Time for answers in progress to finish when the server stops. Default 10,000. */
  drainTimeout?: number;
  /** Bytes of request line and headers. Default 16 KiB: 431 beyond. */
  maxHeaderSize?: number;
  /** Number of connections. The server closes further connections at once. Default: no limit. */
  maxConnections?: number;
  /** Interval between checks for timeouts. Default 5,000. */
  checkInterval?: number;
}
