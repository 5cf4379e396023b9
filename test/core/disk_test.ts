import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { explainDisk } from "../../core/disk.ts";

const env = { HOME: "/h", KNOTLESS_STATE_DIR: "/s", KNOTLESS_CACHE_DIR: "/c" };
const failed = (message: string, facts: object = {}) => Object.assign(new Error(message), facts);

describe("an error of the disk", () => {
  for (
    const [error, said] of [
      [failed("EACCES: denied", { code: "EACCES", path: "/s/sessions" }), "/s KNOTLESS_STATE_DIR"],
      [failed("EROFS: read-only", { code: "EROFS", path: "/c/x" }), "/c KNOTLESS_CACHE_DIR"],
      [
        failed("ENOENT: no such", { code: "ENOENT", syscall: "mkdir", path: "/s/sessions" }),
        "/s KNOTLESS_STATE_DIR",
      ],
      [failed("ENOENT: no such", { code: "ENOENT", syscall: "open", path: "/s/x" }), undefined],
      [failed("ENOSPC: no space", { code: "ENOSPC" }), "/c KNOTLESS_CACHE_DIR"],
      [failed("database or disk is full"), "/c KNOTLESS_CACHE_DIR"],
      [failed("unable to open database file"), "/c KNOTLESS_CACHE_DIR"],
      [failed("attempt to write a readonly database"), "/c KNOTLESS_CACHE_DIR"],
      [
        new Error("it failed", { cause: failed("database or disk is full") }),
        "/c KNOTLESS_CACHE_DIR",
      ],
      [failed("EACCES: denied", { code: "EACCES", path: "/else" }), undefined],
      [failed("EACCES: listen", { code: "EACCES" }), undefined],
      [new TypeError("x is not a function"), undefined],
    ] as const
  ) {
    it(`is told by folder and variable: ${error.message}, ${said}`, () => {
      const trouble = explainDisk(error, env, "linux");
      const [dir, variable] = said?.split(" ") ?? [];
      assertEquals(trouble?.message.startsWith(`cannot use ${dir}: `), said && true);
      assertEquals(trouble?.hint.endsWith(` in ${variable}`), said && true);
    });
  }
});
