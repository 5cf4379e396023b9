import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { PassThrough } from "node:stream";
import { readHidden } from "../../cli/secret.ts";

/** Types the keys at a terminal; gives what was read, and what became of the terminal. */
async function type(...keys: (string | Uint8Array)[]) {
  const modes: boolean[] = [];
  const keyboard = Object.assign(new PassThrough(), {
    setRawMode: (on: boolean) => modes.push(on),
  });
  let interrupts = 0;
  const read = readHidden(keyboard, () => interrupts++);
  for (const key of keys) keyboard.write(key);
  return { read: await read, modes, interrupts };
}

const put = { modes: [true, false], interrupts: 0 };

describe("a secret typed at a terminal", () => {
  it("is not echoed, and the terminal is as it was behind it", async () => {
    assertEquals(await type("abcd-", "efgh\r"), { read: "abcd-efgh", ...put });
    assertEquals(await type(new Uint8Array([0xc3]), new Uint8Array([0xa9, 10])), {
      read: "é",
      ...put,
    });
  });

  it("may be corrected, and begun again", async () => {
    assertEquals(await type("ab\x7f\x7f\x7fcé\x7fd\r"), { read: "cd", ...put });
    assertEquals(await type("wrong\x15right\n"), { read: "right", ...put });
  });

  it("ends by Ctrl-D, and by Ctrl-C, which interrupts", async () => {
    assertEquals(await type("\x04"), { read: undefined, ...put });
    assertEquals(await type("ab\x03"), { read: undefined, modes: [true, false], interrupts: 1 });
  });
});
