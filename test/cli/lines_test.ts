import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { PassThrough, Readable } from "node:stream";
import { openLines } from "../../cli/lines.ts";

describe("lines of stdin", () => {
  it("come one at a time, wherever the chunks end", async () => {
    const bytes = new TextEncoder().encode("one\r\nzwölf\n\nlast");
    for (const size of [1, 3, 7, 100]) {
      const chunks = Array.from(
        { length: Math.ceil(bytes.length / size) },
        (_, i) => bytes.slice(i * size, (i + 1) * size),
      );
      const read = openLines(Readable.from(chunks));
      const lines: (string | undefined)[] = [];
      for (let i = 0; i < 6; i++) lines.push(await read());
      assertEquals(lines, ["one", "zwölf", "", "last", undefined, undefined]);
    }
  });

  it("are given up when nobody waits for them, and lost to no one", async () => {
    const source = new PassThrough();
    const read = openLines(source);
    const stop = new AbortController();
    const given = read(stop.signal);
    source.write("hal");
    stop.abort();
    assertEquals(await given, undefined);
    source.write("f\nnext\n");
    assertEquals([await read(), await read()], ["half", "next"]);
    assertEquals(await read(stop.signal), undefined);
  });
});
