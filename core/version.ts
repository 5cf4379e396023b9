/** The version of this program, as `--version` says it; a test holds it to deno.json. */
export const version = "0.1.0";
