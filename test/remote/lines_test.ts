import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromWire, readLine, toWire } from "../../remote/lines.ts";
import { tempDir } from "../support/git.ts";

describe("readLine", () => {
  it("leaves what follows a line for whoever reads next", () => {
    using temp = tempDir();
    const file = join(temp.path, "said");
    writeFileSync(file, Uint8Array.of(0x61, 0xe9, 0x0a, 0x0a, 0x62, 0x0a, 0x63));
    const fd = openSync(file, "r");
    try {
      assertEquals([readLine(fd), readLine(fd), readLine(fd)], ["a\xe9", "", "b"]);
      assertEquals(readFileSync(fd, "latin1"), "c");
      assertEquals(readLine(fd), undefined);
    } finally {
      closeSync(fd);
    }
  });
});

describe("the text of a line", () => {
  it("is UTF-8 both ways, and nothing when it is not UTF-8", () => {
    assertEquals(toWire("é"), "\xc3\xa9");
    assertEquals(fromWire("\xc3\xa9"), "é");
    assertEquals(fromWire("\xe9"), undefined);
  });
});
