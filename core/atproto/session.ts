import type { Did } from "./syntax.ts";

/** Sends requests as an account. */
export interface Authorized {
  readonly did: Did;
  readonly pds: string;
  /**
   * Signs and sends a request; `path` is below the PDS. Refreshes the login where needed, and sends again what was
   * refused for that alone. Throws an AuthError when the login has ended.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}
