import { ID } from "./lexicons.gen.ts";

/** What a login asks for: to write the records of our lexicons, and blobs. */
export function wantedScopes(): string[] {
  return ["atproto", ...Object.values(ID).map((collection) => `repo:${collection}`), "blob:*/*"];
}

/** The wanted scopes that were not granted. */
export function missingScopes(wanted: readonly string[], granted: readonly string[]): string[] {
  const had = new Set(granted);
  return wanted.filter((scope) => !had.has(scope));
}
