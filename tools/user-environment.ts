import { delimiter, dirname } from "node:path";

/** The environment of a user: this Node first, without variables of the npm script that runs this process. */
export function userEnvironment(): NodeJS.ProcessEnv {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(lifecycle|package|config_local)|^NODE_TEST/.test(name),
    ),
  );
  return { ...env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
}
