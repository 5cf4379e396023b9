import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { LineReader } from "../../mcp/lines.ts";

const bytes = new TextEncoder();

function read(limit: number, ...chunks: Uint8Array[]): string[] {
  const said: string[] = [];
  const reader = new LineReader(limit, (line) => said.push(line), () => said.push("(too long)"));
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return said;
}

describe("lines of a stream", () => {
  it("are the same however the bytes come", () => {
    const text = bytes.encode("{é}\r\n\n 👩‍💻\nlast");
    const lines = ["{é}", "👩‍💻", "last"];
    assertEquals(read(100, text), lines);
    assertEquals(read(100, ...[...text].map((byte) => Uint8Array.of(byte))), lines);
  });

  it("are dropped over the limit, told once, and the next is read", () => {
    const long = bytes.encode("x".repeat(8));
    assertEquals(read(10, long, long, long, bytes.encode("y\nnext\n")), ["(too long)", "next"]);
    assertEquals(read(8, long, bytes.encode("\n")), ["xxxxxxxx"]);
  });
});
