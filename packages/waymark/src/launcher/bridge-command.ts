import { isBridge, serveBridge } from "../serve/bridge/bridge.ts";
import type { Arguments } from "./arguments.ts";
import { faultText, LauncherError } from "./launcher-error.ts";
import { applicationOf } from "./load-application.ts";

/** Serves over the sockets of the Python package, which starts this command. Not for direct use. */
export async function bridge(args: Arguments): Promise<number> {
  if (!isBridge(args.lifeline))
    throw new LauncherError(
      'only the Python package can start "waymark bridge": see "waymark python-path"',
      2,
    );
  const start = async () => {
    const application = await applicationOf(args);
    const { notes } = await application.ready();
    for (const note of notes) console.error(`note: ${note}`);
    return application;
  };
  return serveBridge(args.lifeline, start, (error) => faultText(error, args.debug));
}
