import { AssertionError } from "node:assert";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assertEquals } from "@std/assert";

/** Fails unless `text` is the golden of that path under test/golden; UPDATE_GOLDENS=1 makes it so. */
export function assertGolden(path: string, text: string): void {
  const file = fileURLToPath(new URL(`../golden/${path}`, import.meta.url));
  if (process.env["UPDATE_GOLDENS"]) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  assertEquals(text, readGolden(file, path), `${path} is another: UPDATE_GOLDENS=1 rewrites it`);
}

function readGolden(file: string, path: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new AssertionError({
      message: `no golden ${path}: UPDATE_GOLDENS=1 writes it (${cause})`,
    });
  }
}

/** The names of the goldens in a folder, sorted. */
export function goldensIn(folder: string): string[] {
  return readdirSync(fileURLToPath(new URL(`../golden/${folder}`, import.meta.url))).sort();
}
