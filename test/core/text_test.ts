import { describe, it } from "@std/testing/bdd";
import { assert, assertEquals } from "@std/assert";
import { toJson, toPrettyJson, toText } from "../../core/answer.ts";
import { quote } from "../../core/errors.ts";
import {
  color,
  columns,
  cut,
  fields,
  nearest,
  relativeTime,
  safe,
  safePainted,
  type Style,
  tsvField,
  widthOf,
} from "../../core/text.ts";

const now = new Date("2026-11-30T20:00:00Z");
const screen: Style = { terminal: true, color: false, width: 40, now };
const pipe: Style = { ...screen, terminal: false };

describe("safe", () => {
  for (
    const [name, text, expected] of [
      ["keeps lines and tabs", "a\n\tb\r\nc", "a\n\tb\nc"],
      [
        "takes out what steers a terminal",
        "\x1b[2J\x9b1m\x07\r\x7f",
        "\uFFFD[2J\uFFFD1m\uFFFD\uFFFD\uFFFD",
      ],
      [
        "takes out marks of direction",
        "a\u202eb\u2066c\u200fd\u061ce",
        "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe",
      ],
      [
        "takes out what is invisible",
        "a\u200bb\u2060c\ufeffd\u00ade\u{e0041}f\u3164",
        "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFDf\uFFFD",
      ],
      ["takes out joiners among ASCII", "pay\u200dpal", "pay\uFFFDpal"],
      ["takes out runs of joiners", "é\u200d\u200dé", "é\uFFFD\uFFFDé"],
      [
        "keeps joiners of emoji and of Persian",
        "👩\u200d💻 می\u200cخواهم ❤️",
        "👩\u200d💻 می\u200cخواهم ❤️",
      ],
      ["mends half a character", "a\ud83d", "a\uFFFD"],
    ] as const
  ) {
    it(name, () => assertEquals(safe(text), expected));
  }

  it("keeps the program's own colours, and no other sequence", () => {
    const painted = color("x\x1b[8m", "bold", { ...screen, color: true });
    assertEquals(painted, "\x1b[1mx\uFFFD[8m\x1b[22m");
    assertEquals(
      safePainted(`${painted}\x1b[8m\x1b]0;t\x07`),
      `${painted}\uFFFD[8m\uFFFD]0;t\uFFFD`,
    );
    assertEquals(color("x", "bold", screen), "x");
  });

  it("is one line of at most 300 in a quotation", () => {
    assertEquals(quote("a\nb\u202e"), "a\uFFFDb\uFFFD");
    assertEquals(quote("x".repeat(301)), `${"x".repeat(299)}…`);
    assertEquals(quote(`${"x".repeat(298)}😀yy`), `${"x".repeat(298)}\uFFFD…`);
    assertEquals(quote("y".repeat(2_000_000)).length, 300);
  });
});

describe("width", () => {
  it("counts columns, not characters", () => {
    assertEquals(["abc", "お互い", "e\u0301", "😀", "\x1b[1mab\x1b[22m"].map(widthOf), [
      3,
      6,
      1,
      2,
      2,
    ]);
  });

  it("is kept by a cut", () => {
    assertEquals(cut("abcdef", 4), "abc…");
    assertEquals(cut("お互い様", 6), "お互…");
    assertEquals(cut("abc", 3), "abc");
  });
});

describe("columns", () => {
  const rows = [
    {
      repo: "a/b",
      description: "one\ttwo\\\n",
      topics: ["x", "y"],
      createdAt: "2026-11-29T20:00:00Z",
    },
    { repo: "a/c", description: null, createdAt: "no date" },
  ];
  const keys = ["repo", "description", "topics", "createdAt"];

  it("are TSV in a pipe, in their order, a missing value empty", () => {
    assertEquals(
      columns(rows, keys, pipe),
      "a/b\tone\\ttwo\\\\\\n\tx,y\t2026-11-29T20:00:00Z\na/c\t\t\tno date",
    );
  });

  it("are a table on a terminal, of the shown ones", () => {
    assertEquals(
      columns(rows, keys, screen, ["repo", "createdAt"]),
      "REPO  CREATED\na/b   1 day ago\na/c   no date",
    );
  });

  it("give way where they may be cut", () => {
    const long = [{ repo: "alice.test/a-long-name", description: "word ".repeat(20) }];
    const [, line = ""] = columns(long, ["repo", "description"], screen).split("\n");
    assertEquals(widthOf(line), 40);
    assert(line.startsWith("alice.test/a-long-name  word"));
  });

  it("are never wider than the terminal, and give all they have room for", () => {
    const sha = "0123456789abcdef".repeat(3).slice(0, 40);
    const refs = [{ ref: "refs/heads/a-topic", sha, commit: sha }, { ref: "refs/tags/v1", sha }];
    const found = [{
      uri: `at://did:plc:${"a".repeat(24)}/dev.knotless.repo/app`,
      repo: "alice.test/a-long-name-of-a-repository",
      description: "お互い様 ".repeat(30),
      createdAt: "2026-11-29T20:00:00Z",
      note: "word ".repeat(10_000),
    }];
    for (const width of [20, 40, 60, 80, 200]) {
      for (const rows of [refs, found, [{ repo: "a/b", did: "did:plc:abc" }]]) {
        const text = columns(rows, Object.keys(rows[0] ?? {}), { ...screen, width });
        for (const line of text.split("\n")) assert(widthOf(line) <= width, `${width}: ${line}`);
      }
    }
    assertEquals(
      columns(refs, ["ref", "sha", "commit"], screen),
      [
        "REF                 SHA       COMMIT",
        "refs/heads/a-topic  01234567  01234567",
        "refs/tags/v1        01234567",
      ].join("\n"),
    );
    assertEquals(
      columns(refs, ["ref", "sha", "commit"], { ...screen, width: 20 }),
      [
        "REF     refs/heads/…",
        "SHA     01234567",
        "COMMIT  01234567",
        "",
        "REF     refs/tags/v1",
        "SHA     01234567",
      ].join("\n"),
    );
  });

  it("hold whole shas in a pipe, and a quoted path once quoted", () => {
    const rows = [{ mode: "100644", name: '"a\\tb\\303"', sha: "a".repeat(40), path: '"\\n"' }];
    assertEquals(
      columns(rows, ["mode", "name", "sha", "path"], pipe),
      `100644\t"a\\tb\\303"\t${"a".repeat(40)}\t"\\n"`,
    );
    assertEquals(columns([{ name: '"a\\tb"' }], ["name"], pipe), '"a\\\\tb"');
  });

  it("steer no terminal a pipe ends in", () => {
    assertEquals(
      columns([{ name: "\x1b[2J\x07\r\u202e" }], ["name"], pipe),
      "\uFFFD[2J\uFFFD\uFFFD\uFFFD",
    );
  });

  it("of nothing are nothing", () => {
    assertEquals(columns([], keys, screen), "");
  });

  it("of one thing are its fields", () => {
    assertEquals(
      fields({ uri: "at://x", note: undefined, size: 3 }, screen),
      "uri   at://x\nsize  3",
    );
    assertEquals(fields({ uri: "at://x", size: 3 }, pipe), "uri\tat://x\nsize\t3");
    assertEquals(tsvField({ a: "\t" }), '{"a":"\\\\t"}');
  });
});

describe("relative times", () => {
  for (
    const [date, said] of [
      ["2026-11-30T19:59:55Z", "just now"],
      ["2026-11-30T19:59:01Z", "59 seconds ago"],
      ["2026-11-30T19:01:00Z", "59 minutes ago"],
      ["2026-11-30T18:59:00Z", "1 hour ago"],
      ["2026-11-01T20:00:00Z", "29 days ago"],
      ["2026-01-30T20:00:00Z", "10 months ago"],
      ["2023-11-30T20:00:00Z", "3 years ago"],
      ["2026-12-01T20:00:00Z", "in 1 day"],
    ] as const
  ) {
    it(`say ${said}`, () => assertEquals(relativeTime(date, now), said));
  }
});

describe("nearest", () => {
  it("finds the word that was meant", () => {
    const words = ["list", "read", "refs", "rename", "log"];
    assertEquals(
      ["lsit", "raed", "LIST", "renmae", "lo", "lg", "x", "logistics", ""].map((word) =>
        nearest(word, words)
      ),
      ["list", "read", "list", "rename", "log", "log", undefined, undefined, undefined],
    );
  });

  it("looks at no word of any length", () => {
    assertEquals(nearest("x".repeat(10_000_000), ["x".repeat(9_999_999)]), undefined);
  });
});

describe("JSON of a result", () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xe9]);

  it("is compact, in the order given, without what is undefined", () => {
    assertEquals(toJson({ b: 1, a: undefined, c: [undefined, null] }), '{"b":1,"c":[null,null]}');
    assertEquals(toJson(undefined), "null");
  });

  it("takes bytes for text of an unknown encoding, a Buffer too", () => {
    assertEquals(toJson({ text: bytes }), '{"text":"\ufeffa\uFFFD"}');
    assertEquals(toJson([Buffer.from(bytes)]), '["\ufeffa\uFFFD"]');
    assertEquals(toJson(bytes), '"\ufeffa\uFFFD"');
    assertEquals(toText(bytes), "\ufeffa\uFFFD");
  });

  it("is the same thing with escapes on a terminal", () => {
    const result = { a: "\u202e\x9b\u{e0041}", b: ["é\u2028"] };
    const text = toPrettyJson(result);
    assertEquals(
      text,
      '{\n  "a": "\\u202e\\u009b\\udb40\\udc41",\n  "b": [\n    "é\\u2028"\n  ]\n}',
    );
    assertEquals(JSON.parse(text), result);
  });
});
