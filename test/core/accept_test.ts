import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { accept } from "../../core/accept.ts";
import { facts } from "../../core/facts.gen.ts";
import type { Fact, ParamFact } from "../../core/facts.ts";
import { loadCommand } from "../../core/table.ts";

const ROUNDS = 400;

/** Numbers from 0 to below `below`, the same in every run. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = Math.imul(state, 1664525) + 1013904223 >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

const ODD: readonly unknown[] = [
  ...["", " ", "a", "A.B", "\0", "\ud800", "é", "0", "true", "__proto__", "constructor", "x\ny"],
  ...[0, -0, 1, -1, 1.5, NaN, Infinity, 2 ** 53, -(2 ** 53), 1e300, 10n, true, false],
  ...[null, undefined, [], [""], ["a"], [1], [null], [["a"]], {}, { length: 1 }],
  ...[new String("a"), new Date(0), Object("x"), Symbol.iterator, () => "a"],
  ...["alice.test", "@Alice.Test", "did:plc:abc", "alice.test/app", "@alice.test/app.git", "x/y"],
  ...["at://did:plc:abc/dev.knotless.repo/3k", "knotless://alice.test/app", "alice.test/..", "/a"],
  ...["did:plc:abc/app", "alice.test/%61pp", "app.lock", "a".repeat(101), ".app", "alice.test/"],
];

/** Values about the bounds of a parameter. */
function edges({ type, items, fit, enum: choices = [], minimum = 0, maximum = 9 }: ParamFact) {
  const values: unknown[] = [];
  if (choices.length > 0) values.push(...choices);
  if (type === "boolean") values.push(true, false);
  if (type === "integer") {
    for (const by of [-1, 0, 0, 1]) {
      values.push(minimum + by, maximum + by);
    }
  }
  const lengths = ({ least = 0, most = 8 } = fit ?? {}) =>
    [least - 1, least, most, most + 1].filter((length) => length >= 0);
  if (type === "string" && choices.length === 0) {
    values.push("x", "x", ...lengths().map((length) => "x".repeat(length)));
  }
  if (type === "array") {
    values.push(["x"], ["x", "y"]);
    values.push(...lengths().map((length) => new Array(length).fill(items === "string" ? "x" : 1)));
    values.push(...lengths(fit?.each).map((length) => ["ok", "x".repeat(length)]));
    values.push(new Array(2), Object.assign(["x"], { extra: 1 }));
  }
  return values;
}

function argsFor({ params }: Fact, random: (below: number) => number): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  const pick = <T>(values: readonly T[]) => values[random(values.length)];
  // Most values are sound in most rounds, so that one that is not decides.
  const oddness = random(4);
  for (const param of params) {
    if (random(3) === 0 && !(param.required && random(8) > 0)) continue;
    args[param.name] = random(8) < oddness
      ? pick(ODD)
      : param.fit?.read === "repo"
      ? pick(["alice.test/app", "did:plc:abc/app", "alice.test/.."])
      : param.fit?.read
      ? pick(["alice.test", "app", "@Bob.Test", "no!"])
      : pick(edges(param));
  }
  if (random(12) === 0) args[pick(["extra", "toString", "__proto__x", "undo"]) ?? ""] = pick(ODD);
  return args;
}

/** What plain facts are to tell: all but values that are told to be absent, and parameters that only a schema knows. */
function isTold({ params }: Fact, args: Readonly<Record<string, unknown>>): boolean {
  return params.every(({ name, fit }) =>
    !Object.hasOwn(args, name) || (fit !== undefined && args[name] !== undefined)
  );
}

describe("arguments that plain facts show to fit", () => {
  for (const [index, fact] of facts.entries()) {
    it(`are those that the schema of ${fact.name} takes, and become the same input`, async () => {
      const schema = await (await loadCommand(fact.name)).schema();
      const random = makeRandom(index + 1);
      let taken = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const args = argsFor(fact, random);
        const input = accept(fact, args);
        const parsed = schema.safeParse(args);
        if (input !== undefined) {
          assert(parsed.success, `${Object.entries(args)}: ${parsed.error}`);
          assertEquals(input, parsed.data);
          taken++;
        } else if (parsed.success) {
          assert(!isTold(fact, args), `not taken: ${Object.entries(args)}`);
        }
      }
      const isKnown = fact.params.every(({ fit, required }) => fit !== undefined || !required);
      assertEquals(taken > 0, isKnown);
    });
  }

  it("are a plain object of parameters", () => {
    const fact = facts.find(({ name }) => name === "repo list");
    assertEquals(accept(fact, {}), {});
    class Args {}
    for (const args of [undefined, null, "", 1, [], new Args(), Object.create(null)]) {
      assertEquals(accept(fact, args), undefined);
    }
    assertEquals(accept(fact, JSON.parse('{"__proto__": {"handle": "alice.test"}}')), undefined);
  });

  it("are not looked at for a command that has no facts", () => {
    assertEquals(accept(undefined, {}), undefined);
  });
});
