import { buildIfStale } from "../../scripts/build.ts";

/** The path of the binary under test: the one KNOTLESS_BIN names, else one built of the tree as it is. */
export async function binary(): Promise<string> {
  return Deno.env.get("KNOTLESS_BIN") ?? await buildIfStale();
}
