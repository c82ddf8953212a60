import type { Service } from "../service.ts";

/**
 * Lets signals steer a service: SIGTERM ends it after the drain delay, SIGINT at once, SIGHUP reloads the rules,
 * SIGUSR2 switches debug logging. A second SIGTERM or SIGINT ends the process on the spot.
 * @returns resolves with the exit status when a signal has ended the service
 */
export function untilSignalled(service: Service): Promise<number> {
  const configured = service.log.level;
  return new Promise((resolve) => {
    let ending = false;
    const end = (signal: NodeJS.Signals): void => {
      if (ending) process.exit(1);
      ending = true;
      service.log.warn(`received ${signal}, shutting down`);
      // Whatever a socket or a store still does: the process ends.
      setTimeout(() => process.exit(0), service.shutdownTimeout + 1000).unref();
      void service.stop({ delay: signal === "SIGTERM" }).then(
        () => resolve(0),
        () => resolve(1),
      );
    };
    process.on("SIGTERM", end);
    process.on("SIGINT", end);
    process.on("SIGHUP", () => service.reload());
    process.on("SIGUSR2", () => {
      service.setLogLevel(service.log.level === "debug" ? configured : "debug");
      service.log.warn(`log level set to ${service.log.level} by SIGUSR2`);
    });
  });
}
