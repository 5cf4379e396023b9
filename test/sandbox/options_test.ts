import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("a script that is asked for what does not fit", () => {
  for (
    const [line, said] of [
      ["dev --bogus", "Unknown option '--bogus'"],
      ["dev --port x", '--port takes a number, not "x"'],
      ["dev --data /dev/null/x", "nothing can be kept in /dev/null/x: .+"],
      ["build --bogus", "Unknown option '--bogus'"],
      ["bench nope", "no such bench: nope \\(there are imports, .+\\)"],
      ["bench --samples x", '--samples takes a number, not "x"'],
      ["demo --bogus", "Unknown option '--bogus'"],
      ["gen --bogus", "Unknown option '--bogus'"],
      ["test --bogus", "Unknown option '--bogus'"],
    ] as const
  ) {
    it(`says so in a line and ends with 2: ${line}`, async () => {
      const [name, ...args] = line.split(" ");
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "--no-check", "--allow-all", `scripts/${name}.ts`, ...args],
        cwd: root,
        stdin: "null",
        env: { NO_COLOR: "1" },
      }).output();
      const text = new TextDecoder().decode(stderr);
      assertMatch(text, new RegExp(`^error: ${said}\n$`));
      assertEquals(code, 2);
    });
  }
});
