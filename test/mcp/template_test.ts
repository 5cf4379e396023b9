import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { type Parts, readTemplate } from "../../mcp/template.ts";
import { random } from "../support/random.ts";

const file = readTemplate("knotless://{owner}/{repo}/file/{rev}/{+path}");

/** Escapes a value as the most careful of clients does. */
function escape(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function textsOf(parts: Parts | undefined): string[] | undefined {
  return parts && Object.values(parts).map(({ text }) => text);
}

describe("a URI template", () => {
  for (
    const [says, uri, parts] of [
      ["reads each escape once", "alice.test/app/file/topic%2Fx/src/a%20b.ts", [
        "alice.test",
        "app",
        "topic/x",
        "src/a b.ts",
      ]],
      ["takes a DID as it is", "did:plc:abc/app/file/main/x", ["did:plc:abc", "app", "main", "x"]],
      ["takes an escaped DID", "did%3Aplc%3Aabc/app/file/main/x", [
        "did:plc:abc",
        "app",
        "main",
        "x",
      ]],
      ["leaves an escape in an escape", "did%3Aweb%3Aa%253A80/app/file/main/x", [
        "did:web:a%3A80",
        "app",
        "main",
        "x",
      ]],
      ["counts # and ? to the path", "a.b/app/file/main/a#b?c.md", [
        "a.b",
        "app",
        "main",
        "a#b?c.md",
      ]],
      ["leaves escapes that are none", "a.b/app/file/main/100%.md", [
        "a.b",
        "app",
        "main",
        "100%.md",
      ]],
      ["leaves .. to whoever reads the path", "a.b/app/file/main/../x", [
        "a.b",
        "app",
        "main",
        "../x",
      ]],
      ["takes what a URL may not have", "a.b/app/file/a,b/x y\n世", [
        "a.b",
        "app",
        "a,b",
        "x y\n世",
      ]],
    ] as const
  ) {
    it(says, () => assertEquals(textsOf(file.match(`knotless://${uri}`)), [...parts]));
  }

  it("takes a scheme in capitals, and one before it", () => {
    const parts = ["a.b", "app", "main", "X"];
    assertEquals(textsOf(file.match("KNOTLESS://a.b/app/file/main/X")), parts);
    assertEquals(textsOf(file.match("mcp://knotless://a.b/app/file/main/X")), parts);
  });

  it("matches no other URI", () => {
    for (
      const uri of [
        "",
        "knotless://a.b/app",
        "knotless://a.b/app/file/main/",
        "knotless://a.b//file/main/x",
        "knotless://a.b/app/pulls",
        "https://a.b/app/file/main/x",
        "xknotless://a.b/app/file/main/x",
        `knotless://a.b/app/file/main/${"x".repeat(20_000)}`,
      ]
    ) assertEquals(file.match(uri), undefined, uri);
  });

  it("gives back what was escaped into it, whatever that is", () => {
    const { text } = random("templates");
    for (let round = 0; round < 2_000; round++) {
      const parts = [text(8), text(8), text(12), text(20)].map((part) => part.toWellFormed());
      const [owner, repo, rev, path = ""] = parts.map(escape);
      const slashed = path.replaceAll("%2F", "/");
      for (const spelled of [path, slashed]) {
        const uri = `knotless://${owner}/${repo}/file/${rev}/${spelled}`;
        assertEquals(textsOf(file.match(uri)), parts);
      }
    }
  });
});
