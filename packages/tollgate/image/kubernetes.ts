import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { loadAll } from "js-yaml";

export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

/** API groups of Kubernetes itself. The others are custom resources, whose schemas are not in the package. */
const OWN = /^(?:v1|(?:apps|policy|autoscaling)\/v\d+|networking\.k8s\.io\/v1)$/;

const schemas = process.env.SCHEMAS!;
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
ajv.addSchema(read("_definitions.json"));

/** The resources of a file. Fails if one does not match the schema of its kind; unknown members do not match. */
export function checkResources(text: string): Resource[] {
  const resources = (loadAll(text) as (Resource | null)[]).filter((resource) => resource !== null);
  for (const resource of resources) {
    const { apiVersion, kind, metadata } = resource;
    if (!OWN.test(apiVersion)) continue;
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    const name = [kind.toLowerCase(), group!.split(".")[0], version].filter((part) => part !== "").join("-");
    const schema = read(`${name}.json`);
    const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema);
    assert.ok(validate(resource), `${kind} ${metadata.name}: ${ajv.errorsText(validate.errors)}`);
  }
  return resources;
}

function read(name: string): { $id: string } {
  return JSON.parse(readFileSync(join(schemas, name), "utf8"));
}
