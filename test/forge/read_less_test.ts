import { describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import { refuseLong } from "../../core/forge/read_less.ts";

const most = 100;
const args = { repo: "alice.test/app", path: "f" };
const whole = { path: "f", commit: "0".repeat(40), mode: "100644" };
const long = "x".repeat(150);

describe("a file too long for one answer", () => {
  it("is told by its own size, and given when that fits", () => {
    const binary = (size: number) =>
      refuseLong({ ...whole, size, base64: "A".repeat(size * 2) }, most, args);
    assertEquals(binary(100), undefined);
    assertEquals(binary(101)?.message, "f is 101 bytes, too long to give whole");
    assertEquals(binary(101)?.hint, "git clone has it");
  });

  it("is answered with the lines that fit, never with those just asked for", () => {
    const text = `${"a".repeat(39)}\n`.repeat(4);
    const first = refuseLong({ ...whole, size: 160, text }, most, args);
    const hint = { command: "repo read", args: { ...args, start: 1, end: 2 } };
    assertEquals([first?.message, first?.hint], ["f is 160 bytes, too long to give whole", hint]);
    const part = { ...args, start: 3, end: 6 };
    const next = refuseLong({ start: 3, end: 6, lines: 9, text }, most, part);
    assertEquals(next?.message, "lines 3 to 6 of f are 160 bytes, too long to give whole");
    assertEquals(next?.hint, { command: "repo read", args: { ...part, end: 4 } });
  });

  it("is told by the line that is too long alone", () => {
    const said = "read the lines before or behind it, or git clone the repository";
    for (const start of [1, 7]) {
      const part = { start, end: start, lines: 9, text: long };
      const told = refuseLong(part, most, { ...args, start, end: start });
      assertEquals(told?.message, `line ${start} of f is 150 bytes, too long to give`);
      assertEquals(told?.hint, said);
    }
    const told = refuseLong({ ...whole, size: 150, text: long }, most, args);
    assertEquals(told?.message, "line 1 of f is 150 bytes, too long to give");
  });
});
