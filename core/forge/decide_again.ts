import { isOvertaken } from "./moved.ts";
import { openNewest, type Writing } from "./writing.ts";

/** How often a write is decided at most. */
const TRIES = 6;

/**
 * Decides a write and makes it, on the newest state once more when another write came before it that it does not go
 * with: a ref of it is elsewhere, or nothing leads to what it leans on. `isAgain` tells such errors from others, where a
 * writer goes on after more of them.
 */
export async function decideAgain<T>(
  writing: Writing,
  write: (writing: Writing) => Promise<T>,
  isAgain: (error: unknown) => boolean = isOvertaken,
): Promise<T> {
  let at = writing;
  for (let attempt = 1;; attempt++) {
    try {
      return await write(at);
    } catch (error) {
      if (!isAgain(error) || attempt === TRIES) throw error;
      at = await openNewest(at.repository);
    }
  }
}
