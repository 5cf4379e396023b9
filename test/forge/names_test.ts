import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { UsageError } from "../../core/errors.ts";
import { parseRepoName, readActor, refuseName, spellRepo } from "../../core/forge/names.ts";

describe("repository names", () => {
  const did = "did:plc:24by4y7ivzuylofkblhyjanz";

  it("are read in every way they are written", () => {
    const named = { owner: "alice.test", name: "app" };
    for (
      const text of [
        "alice.test/app",
        "@alice.test/app",
        "Alice.Test/app",
        "alice.test/app.git",
        "alice.test/app/",
        "knotless://alice.test/app",
        "KNOTLESS://alice.test/app.git",
      ]
    ) assertEquals(parseRepoName(text), named, text);
    assertEquals(parseRepoName(`${did}/app`), { owner: did, name: "app" });
    assertEquals(parseRepoName(`knotless://${did.replaceAll(":", "%3A")}/app`), {
      owner: did,
      name: "app",
    });
    assertEquals(parseRepoName(`at://${did}/dev.knotless.repo/3kabc`), {
      owner: did,
      rkey: "3kabc",
    });
  });

  it("are refused when they name nothing", () => {
    for (
      const text of [
        "",
        "/",
        "app",
        "alice.test/",
        "/app",
        "alice/app",
        "alice.test/a/b",
        "alice.test/a b",
        "alice.test/-a",
        "alice.test/..",
        "alice.test/a..b",
        "alice.test/a.lock",
        "jo@hn.test/app",
        "john..test/app",
        "https://example.com/alice.test/app",
        `at://${did}/app.bsky.feed.post/3kabc`,
      ]
    ) assertThrows(() => parseRepoName(text), UsageError, "is not a repository");
  });

  it("hold 1 to 100 characters and end in neither .git nor .lock", () => {
    assertEquals(refuseName("a".repeat(100)), undefined);
    assertEquals(refuseName("_x.Y-z"), undefined);
    for (const name of ["", "a".repeat(101), ".a", "a.git", "a.GIT", "a.lock", "a..b", "é"]) {
      assertEquals(typeof refuseName(name), "string", name);
    }
  });

  it("are shown with the DID where the handle does not verify", () => {
    assertEquals(spellRepo({ did, handle: "alice.test" }, "app"), "alice.test/app");
    assertEquals(spellRepo({ did, handle: "handle.invalid" }, "app"), `${did}/app`);
  });
});

describe("actors", () => {
  it("are handles, with or without @, and DIDs", () => {
    assertEquals(readActor("@Alice.test"), "alice.test");
    assertEquals(readActor("did:web:example.com"), "did:web:example.com");
    for (const text of ["", "@", "alice", "cn.8", "a..b", "-a.test", "did:", "a.test/b"]) {
      assertEquals(readActor(text), undefined, text);
    }
  });
});
