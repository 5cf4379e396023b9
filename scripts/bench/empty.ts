import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleModule, compile } from "../build.ts";

/** Compiles an empty program in a folder as the product is compiled, and gives its path. */
export async function compileEmpty(folder: string): Promise<string> {
  const source = join(folder, "empty.ts");
  await mkdir(folder, { recursive: true });
  await writeFile(source, "export {};\n");
  await bundleModule(source, join(folder, "bundle"));
  await compile(join(folder, "bundle", "empty.js"), join(folder, "empty"));
  return join(folder, "empty");
}
