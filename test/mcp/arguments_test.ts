import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import type { Schema } from "../../core/facts.ts";
import { facts } from "../../core/facts.gen.ts";
import { leaveOutBlanks, readArguments } from "../../mcp/arguments.ts";

const schema: Schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    count: { type: "integer" },
    choice: { type: "boolean" },
    list: { type: "array", items: { type: "integer" } },
    names: { type: "array", items: { type: "string" } },
    parts: {
      type: "array",
      items: { type: "object", properties: { at: { type: "integer" } } },
    },
    map: { type: "object", additionalProperties: { type: "string" } },
  },
};

describe("the arguments of a tool call", () => {
  for (
    const [says, given, read] of [
      ["leave out what is null", { text: null, map: { a: null, b: "1" } }, { map: { b: "1" } }],
      ["keep text that looks like something else", { text: "[1]" }, { text: "[1]" }],
      ["keep a text that is not of the type", { count: "1.5", choice: "yes" }, {
        count: "1.5",
        choice: "yes",
      }],
      ["keep a list where a number belongs", { count: "[1]" }, { count: "[1]" }],
      ["read numbers and choices", { count: "-3", choice: "false" }, { count: -3, choice: false }],
      ["read a list, and what is in it", { list: '["1", 2]' }, { list: [1, 2] }],
      ["take one thing for a list of it", { names: "a b", parts: { at: "1" }, list: 7 }, {
        names: ["a b"],
        parts: [{ at: 1 }],
        list: [7],
      }],
      ["keep what is no such thing, or a list that broke", {
        names: '["a", ',
        parts: "a",
        list: "x",
      }, { names: '["a", ', parts: "a", list: "x" }],
      ["keep a list in a list", { names: [["a"]] }, { names: [["a"]] }],
      ["read all of them from one text", '{"count": "1"}', { count: 1 }],
      ["keep names that are no parameters", { constructor: "1", other: [null] }, {
        constructor: "1",
        other: [null],
      }],
    ] as const
  ) {
    it(says, () => assertEquals(readArguments(given, schema), read));
  }

  it("do not reach a prototype", () => {
    const read = readArguments(JSON.parse('{"__proto__": {"count": 1}}'), schema);
    assertEquals(Object.keys(read ?? {}), ["__proto__"]);
    assertEquals(Object.getPrototypeOf(read), Object.prototype);
  });

  it("leave out what came empty, but where an empty text means something", () => {
    const paramsOf = (name: string) => facts.find((fact) => fact.name === name)?.params ?? [];
    assertEquals(
      leaveOutBlanks({ repo: "", rev: "", path: "", limit: "" }, paramsOf("repo log")),
      { repo: "" },
    );
    const edit = { repo: "a.test/b", description: "", default_branch: "", unknown: "" };
    assertEquals(leaveOutBlanks(edit, paramsOf("repo edit")), {
      repo: "a.test/b",
      description: "",
      unknown: "",
    });
    assertEquals(leaveOutBlanks("", []), "");
  });
});
