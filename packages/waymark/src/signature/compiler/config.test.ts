import assert from "node:assert/strict";
import { test } from "node:test";
import { configText } from "./config.ts";

const ROOT = "/app/controllers.ts";

function optionsOf(options: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const text = configText(options && { options, fileNames: ["/app/a.ts"] }, [ROOT]);
  return (JSON.parse(text) as { compilerOptions: Record<string, unknown> }).compilerOptions;
}

test("only the resolution of names and the libraries come from the user's tsconfig.json", () => {
  const { types, ...fixed } = optionsOf(undefined);
  assert.deepEqual(types, ["*"]);
  assert.deepEqual([fixed.strict, fixed.exactOptionalPropertyTypes], [true, true]);
  const taken = {
    types: ["node"],
    typeRoots: ["/types"],
    lib: ["lib.es2024.d.ts", "lib.dom.d.ts"],
    baseUrl: "/app",
    paths: { "@models/*": ["./shared/*"] },
  };
  const others = {
    strict: false,
    strictNullChecks: false,
    exactOptionalPropertyTypes: false,
    noImplicitAny: false,
    target: "es5",
    module: "commonjs",
    moduleResolution: "node10",
    customConditions: ["mine"],
    jsx: "react",
    noLib: true,
  };
  assert.deepEqual(optionsOf({ ...taken, ...others }), {
    ...fixed,
    types: ["node"],
    typeRoots: ["/types"],
    lib: ["es2024", "dom"],
    paths: { "*": ["/app/*"], "@models/*": ["/app/shared/*"] },
  });
  assert.deepEqual(optionsOf(others), fixed);
});

test("files that no tsconfig.json includes are opened, too", () => {
  const filesOf = (text: string) => (JSON.parse(text) as { files: string[] }).files;
  assert.deepEqual(filesOf(configText({ options: {}, fileNames: ["/app/a.ts", ROOT] }, [ROOT])), [
    "/app/a.ts",
    ROOT,
  ]);
  assert.deepEqual(filesOf(configText(undefined, [ROOT])), [ROOT]);
});
