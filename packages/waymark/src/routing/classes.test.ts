import assert from "node:assert/strict";
import { test } from "node:test";
import { Controller } from "../controller/controller.ts";
import { classesOf } from "./classes.ts";
import { verbsOf } from "./verbs.ts";

function scan() {
  return {
    file: "/app/c.ts",
    module: "c",
    isAbstract: () => false,
    notes: [] as string[],
    misfits: [] as string[],
  };
}

class Foo extends Controller {
  GET() {}
}

test("finds the controllers among the exports by their export names", () => {
  class Inner extends Controller {
    GET() {}
    static Deep = class extends Controller {};
    static note = "text";
  }
  const found = classesOf(
    { Foo, helper: () => 1, Controller, text: "x", default: Inner, Alias: Foo },
    scan(),
  );
  assert.deepEqual(
    found.map(({ name, segment, members }) => [name, segment, members.map((member) => member.name)]),
    [
      ["Alias", "alias", []],
      ["Foo", "foo", []],
      ["Default", "default", ["Default.Deep"]],
    ],
  );
});

test("names the reason why a class with verbs is not routed", () => {
  class Hidden extends Foo {
    static override private = true;
  }
  class Shown extends Hidden {}
  class Plain extends Controller {}
  const each = scan();
  const exports = { _Foo: Foo, BaseController: Foo, Hidden, Shown, _Plain: Plain };
  assert.deepEqual(
    classesOf(exports, each).map(({ name }) => name),
    ["Shown"],
  );
  assert.deepEqual(each.notes, [
    '/app/c.ts: class BaseController is not routed: its name ends in "Controller"',
    "/app/c.ts: class Hidden is not routed: it has static private = true",
    '/app/c.ts: class _Foo is not routed: its name starts with "_"',
  ]);
});

test("notes that ANY and ALL are not wildcards, and that a static method is not routed", () => {
  class Wild extends Controller {
    ANY() {}
    ALL() {}
  }
  class Static extends Controller {
    static GET() {}
    static POST = () => undefined;
    static get PUT(): () => void {
      throw new Error("ran");
    }
    static readonly PATCH = 5;
    static DELETE = class extends Controller {
      GET() {}
    };
    static MAXIMUM() {}
  }
  class Inherits extends Static {
    GET() {}
  }
  const each = scan();
  const found = classesOf({ Wild, Static, Inherits }, each);
  assert.deepEqual(
    found.map(({ name, verbs }) => [name, [...verbs.keys()]]),
    [
      ["Inherits", ["GET"]],
      ["Static", []],
      ["Wild", ["ALL", "ANY"]],
    ],
  );
  const isStatic = (name: string, verb: string) =>
    `/app/c.ts: class ${name}: static ${verb} is not routed, because a verb is a method of the instance: remove "static"`;
  const isWild = (verb: string) =>
    `/app/c.ts: class Wild: ${verb} answers only requests whose method is "${verb}": write a method for each verb that the class serves`;
  assert.deepEqual(each.notes, [
    ...["GET", "PUT", "POST"].map((verb) => isStatic("Inherits", verb)),
    ...["GET", "PUT", "POST"].map((verb) => isStatic("Static", verb)),
    isWild("ALL"),
    isWild("ANY"),
  ]);
});

test("rejects two classes at one path", () => {
  class Other extends Controller {}
  assert.throws(() => classesOf({ FooBar: Foo, Foo_Bar: Other }, scan()), {
    code: "AMBIGUOUS_ROUTE",
    message: /"\/foo-bar"/,
  });
  assert.throws(() => classesOf({ default: Foo, Default: Other }, scan()), { code: "AMBIGUOUS_ROUTE" });
  assert.equal(classesOf({ default: Foo, Default: Foo }, scan()).length, 1);
});

test("a class that is its own static member is routed once", () => {
  class Loop extends Controller {
    static Self: unknown;
  }
  Loop.Self = Loop;
  assert.deepEqual(classesOf({ Loop }, scan())[0]!.members, []);
});

test("verbs are methods in capitals, own and inherited", () => {
  class Base extends Controller {
    GET() {}
    POST() {}
    Get() {}
    helper() {}
    "M-SEARCH"() {}
  }
  class Derived extends Base {
    override GET() {}
    _PUT() {}
  }
  const verbs = verbsOf(Derived, "x", []);
  assert.deepEqual([...verbs.keys()], ["GET", "M-SEARCH", "POST"]);
  assert.equal(verbs.get("GET"), Derived.prototype.GET);
});

test("a verb that is an accessor is rejected and not run", () => {
  class Bad extends Controller {
    get GET() {
      throw new Error("ran");
    }
  }
  const misfits: string[] = [];
  assert.equal(verbsOf(Bad, "/app/c.ts: class Bad", misfits).size, 0);
  assert.deepEqual(misfits, [
    "/app/c.ts: class Bad: GET is an accessor; a verb must be a method: GET() { ... }",
  ]);
});
