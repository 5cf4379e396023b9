import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { defaultOptions, setOption } from "../../remote/options.ts";

describe("setOption", () => {
  it("takes what git sends before a push", () => {
    const options = defaultOptions();
    const said = ["verbosity 0", "progress true", "dry-run true", "atomic true"].map((line) => {
      const [name = "", value] = line.split(" ");
      return setOption(options, name, value);
    });
    assertEquals(said, ["ok", "ok", "ok", "ok"]);
    const { verbosity, progress, dryRun, atomic } = options;
    assertEquals({ verbosity, progress, dryRun, atomic }, {
      verbosity: 0,
      progress: true,
      dryRun: true,
      atomic: true,
    });
  });

  it("takes object-format without a value, with true and with sha1, and no other", () => {
    const options = defaultOptions();
    assertEquals(
      [undefined, "true", "sha1"].map((value) => setOption(options, "object-format", value)),
      [
        "ok",
        "ok",
        "ok",
      ],
    );
    assertEquals(
      setOption(options, "object-format", "sha256"),
      "error knotless keeps SHA-1 repositories only",
    );
  });

  it("keeps leases by the bytes of their refs, none for zeros", () => {
    const options = defaultOptions();
    const oid = "1".repeat(40);
    setOption(options, "cas", `refs/heads/main:${oid}`);
    setOption(options, "cas", `"refs/heads/caf\\303\\251:${oid}"`);
    setOption(options, "cas", `refs/heads/new:${"0".repeat(40)}`);
    assertEquals([...options.leases], [
      ["refs/heads/main", oid],
      ["refs/heads/caf\xc3\xa9", oid],
      ["refs/heads/new", undefined],
    ]);
  });

  it("says of what it does not know that it is unsupported, so that git can say so", () => {
    const options = defaultOptions();
    for (const name of ["pushcert", "push-option", "depth", "followtags", "cloning", ""]) {
      assertEquals(setOption(options, name, "true"), "unsupported");
    }
  });
});
