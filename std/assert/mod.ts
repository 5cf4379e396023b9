/** The part of `@std/assert` that the tests use, over `node:assert`, for machines that cannot reach JSR. */
import { AssertionError, deepStrictEqual, notDeepStrictEqual } from "node:assert";

/** Fails unless `claim` is true. */
export function assert(claim: unknown, message = "the claim is false"): asserts claim {
  if (!claim) throw new AssertionError({ message });
}

/** Fails unless both are deeply equal. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  deepStrictEqual(actual, expected, message);
}

/** Fails when both are deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  notDeepStrictEqual(actual, expected, message);
}

/** Fails unless `actual` holds the text `expected`. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  if (!actual.includes(expected)) {
    throw new AssertionError({
      message: message ?? `${JSON.stringify(expected)} is not in ${JSON.stringify(actual)}`,
      actual,
      expected,
    });
  }
}

/** Fails unless `actual` matches the pattern. */
export function assertMatch(actual: string, expected: RegExp, message?: string): void {
  if (!expected.test(actual)) {
    throw new AssertionError({
      message: message ?? `${JSON.stringify(actual)} does not match ${expected}`,
      actual,
      expected,
    });
  }
}

// deno-lint-ignore no-explicit-any
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

function checkError<E extends Error>(
  error: unknown,
  kind: ErrorClass<E>,
  includes: string | undefined,
): E {
  if (!(error instanceof kind)) {
    throw new AssertionError({ message: `threw ${error}, not ${kind.name}`, actual: error });
  }
  if (includes !== undefined) assertStringIncludes(error.message, includes);
  return error;
}

/** Fails unless `run` throws a `kind`; gives what it threw. */
export function assertThrows<E extends Error>(
  run: () => unknown,
  kind: ErrorClass<E>,
  includes?: string,
): E {
  try {
    run();
  } catch (error) {
    return checkError(error, kind, includes);
  }
  throw new AssertionError({ message: `threw nothing, not ${kind.name}` });
}

/** Fails unless `run` rejects with a `kind`; gives what it rejected with. */
export async function assertRejects<E extends Error>(
  run: () => Promise<unknown>,
  kind: ErrorClass<E>,
  includes?: string,
): Promise<E> {
  try {
    await run();
  } catch (error) {
    return checkError(error, kind, includes);
  }
  throw new AssertionError({ message: `threw nothing, not ${kind.name}` });
}
