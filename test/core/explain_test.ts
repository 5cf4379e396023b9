import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as z from "zod";
import { call, command } from "../../core/command.ts";
import { UsageError } from "../../core/errors.ts";
import { limit, repo, repoName, rev } from "../../core/params.ts";

const strict = command({
  name: "try",
  summary: "Take arguments",
  kind: "read",
  examples: [],
  params: () => ({
    repo: repo().optional(),
    name: repoName("its name").optional(),
    rev: rev(),
    limit: limit(20),
    links: z.array(z.strictObject({ url: z.url().describe("an https URL") })).min(1).max(3)
      .optional(),
    topics: z.array(z.string().regex(/^a+$/, "a topic is all a")).optional(),
    state: z.enum(["open", "closed"]).optional(),
  }),
  run: (_, input) => Promise.resolve(input),
});

describe("arguments that do not fit", () => {
  for (
    const [args, message, hint] of [
      [{ rev: "" }, "rev is empty"],
      [{ rev: "x".repeat(501) }, "rev is 501 characters: give at most 500"],
      [{ limit: 0 }, "limit: 0 is below 1"],
      [{ links: [] }, "links is empty: give 1 to 3"],
      [
        { links: [1, 2, 3, 4].map(() => ({ url: "https://a.test" })) },
        "links has 4: give at most 3",
      ],
      [{ links: [{}] }, "links[0].url is missing: an https URL"],
      [{ links: [{ url: "x" }] }, "links[0].url: x does not fit: give an https URL"],
      [
        { links: [{ ur: "x", url: "https://a.test" }] },
        "no such parameter: links[0].ur",
        "did you mean url?",
      ],
      [
        { links: [{ label: "x", url: "https://a.test" }] },
        "no such parameter: links[0].label",
        "it takes url",
      ],
      // What is missing was most likely misspelled.
      [
        { links: [{ ulr: "https://a.test" }] },
        "no such parameter: links[0].ulr",
        "did you mean url?",
      ],
      [
        { repo: "t" },
        "repo: t is not a repository: give handle/name, did:…/name, at://did/dev.knotless.repo/rkey or knotless://handle/name",
      ],
      [{ name: "a..b" }, "name: a..b does not fit: a name does not hold .."],
      [
        { name: "" },
        "name is empty: a name is 1 to 100 of A-Z a-z 0-9 . _ - and starts with a letter, a digit or _",
      ],
      [{ topics: ["b"] }, "topics[0]: b does not fit: a topic is all a"],
      [{ state: "opn" }, "state: opn is not one of open, closed (did you mean open?)"],
      [{ state: "" }, "state is empty: give one of open, closed"],
      [{ rev: 1 }, "rev: 1 is not a string"],
    ] as const
  ) {
    it(`are told by name: ${message.slice(0, 60)}`, async () => {
      const error = await assertRejects(
        () => call(strict, args, () => Promise.reject(new Error("it was opened"))),
        UsageError,
      );
      assertEquals([error.message, error.hint], [message, hint]);
    });
  }
});
