/**
 * The compiler's cost of a client's types for 1,000 methods: Waymark's client and Hono's, for the same API. A program
 * calls one method of each class. Instantiations do not depend on the machine, times do.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { machine, table } from "../support/figures.ts";

const REPOSITORY = join(import.meta.dirname, "..", "..");
const FILES = 50;
const CLASSES = 5;
/** Largest number of instantiations for Waymark's program. They do not depend on the machine. */
const LIMIT = 250_000;
const VERBS = ["GET", "POST", "PUT", "DELETE"] as const;

type Files = Readonly<Record<string, string>>;

const BOOK = "{ id: number; title: string; at: Date; tags: string[] }";
const VALUE = '{ id: 1, title: "t", at: new Date(0), tags: ["a"] }';

function waymarkFiles(calls: boolean): Files {
  const files: Record<string, string> = {};
  const modules: string[] = [];
  const uses: string[] = [];
  for (let file = 0; file < FILES; file++) {
    const classes: string[] = [];
    for (let at = 0; at < CLASSES; at++) {
      classes.push(`export class BookList${at} extends Controller {
  GET(id: number, { page = 1 }: { page?: number }): ${BOOK} { void [id, page]; return ${VALUE}; }
  POST({ title }: { title: string }): ${BOOK} { void title; return ${VALUE}; }
  PUT(id: number, { title }: { title: string }): ${BOOK} { void [id, title]; return ${VALUE}; }
  DELETE(id: number): void { void id; }
}`);
      uses.push(`  used.push((await api.file${file}.book_list${at}.GET(1, { page: 2 })).at);`);
    }
    files[`file${file}.ts`] = `import { Controller } from "@tollway/waymark";\n${classes.join("\n")}\n`;
    modules.push(`  readonly file${file}: { readonly "": typeof import("./file${file}.ts") };`);
  }
  files["api.d.ts"] = `export interface Api {\n${modules.join("\n")}\n}\n`;
  files["use.ts"] = program(
    'import { client } from "@tollway/waymark/client";\nimport type { Api } from "./api.d.ts";\nconst api = client<Api>("http://localhost");',
    calls ? uses : ["  void api;"],
  );
  return files;
}

function honoFiles(calls: boolean): Files {
  const files: Record<string, string> = {};
  const imports: string[] = [];
  const routes: string[] = [];
  const uses: string[] = [];
  for (let file = 0; file < FILES; file++) {
    const methods: string[] = [];
    for (let at = 0; at < CLASSES; at++) {
      const id = `"/book-list${at}/:id"`;
      const title = 'validator("json", (value): { title: string } => value)';
      methods.push(
        `.get(${id}, validator("query", (value): { page?: string } => value), (c) => c.json(${VALUE}))`,
        `.post("/book-list${at}", ${title}, (c) => c.json(${VALUE}))`,
        `.put(${id}, ${title}, (c) => c.json(${VALUE}))`,
        `.delete(${id}, (c) => c.body(null, 204))`,
      );
      uses.push(
        `  used.push((await (await api.file${file}["book-list${at}"][":id"].$get({ param: { id: "1" }, query: { page: "2" } })).json()).at);`,
      );
    }
    files[`file${file}.ts`] =
      `import { Hono } from "hono";\nimport { validator } from "hono/validator";\nexport const app = new Hono()${methods.join("\n  ")};\n`;
    imports.push(`import { app as app${file} } from "./file${file}.ts";`);
    routes.push(`.route("/file${file}", app${file})`);
  }
  files["app.ts"] =
    `import { Hono } from "hono";\n${imports.join("\n")}\nconst app = new Hono()${routes.join("\n  ")};\nexport type Api = typeof app;\n`;
  files["use.ts"] = program(
    'import { hc } from "hono/client";\nimport type { Api } from "./app.ts";\nconst api = hc<Api>("http://localhost");',
    calls ? uses : ["  void api;"],
  );
  return files;
}

function program(head: string, uses: readonly string[]): string {
  return `${head}
export async function use(): Promise<string[]> {
  const used: string[] = [];
${uses.join("\n")}
  return used;
}
`;
}

interface Cost {
  readonly instantiations: number;
  readonly types: number;
  readonly seconds: number;
}

/** Compiles a program and returns its costs. Fails if it does not compile, because errors cost less. */
function compile(files: Files): Cost {
  const folder = mkdtempSync(join(tmpdir(), "client-types-"));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const options = {
      extends: join(REPOSITORY, "tsconfig.json"),
      compilerOptions: { types: ["node"] },
      include: ["use.ts", "api.d.ts"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
    link(join(REPOSITORY, "packages", "waymark"), join(folder, "node_modules", "@tollway", "waymark"));
    link(join(REPOSITORY, "node_modules", "@types"), join(folder, "node_modules", "@types"));
    link(join(REPOSITORY, "bench", "node_modules", "hono"), join(folder, "node_modules", "hono"));
    const tsc = join(REPOSITORY, "node_modules", ".bin", "tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder, "--extendedDiagnostics"], {
      encoding: "utf8",
    });
    if (/error TS/.test(stdout)) throw new Error(`the program does not compile:\n${stdout.slice(0, 2000)}`);
    const figure = (name: string) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(stdout)?.[1]);
    return {
      instantiations: figure("Instantiations"),
      types: figure("Types"),
      seconds: figure("Check time"),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** `npm run bench -- client-types` */
export async function main(): Promise<void> {
  console.log(machine());
  const rows: string[][] = [];
  for (const [name, files] of [
    ["Waymark", waymarkFiles],
    ["Hono", honoFiles],
  ] as const) {
    const without = compile(files(false));
    const { instantiations, types, seconds } = compile(files(true));
    rows.push([
      name,
      String(instantiations),
      String(instantiations - without.instantiations),
      String(types),
      `${seconds} s`,
    ]);
  }
  if (Number(rows[0]![1]) > LIMIT) {
    console.error(`the client costs more than ${LIMIT} instantiations`);
    process.exitCode = 1;
  }
  const methods = FILES * CLASSES * VERBS.length;
  console.log(
    table(["client", "instantiations", "of these for the calls", "types", "check time"], rows),
    `\n${methods} methods in ${FILES} files; the program calls ${FILES * CLASSES} of them`,
  );
}
