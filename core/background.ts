/**
 * Takes work that no answer waits for; of work under one key that has not ended there is one. False where nothing is done
 * after an answer.
 */
export type Later = (key: string, work: (signal: AbortSignal) => Promise<void>) => boolean;

/** For a process that ends with its answer: it does no such work. */
export const never: Later = () => false;

/** Does such work one after the other, for as long as the process goes on. */
export function openBackground(): Later {
  const { signal } = new AbortController();
  const waiting = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  return (key, work) => {
    if (waiting.has(key)) return true;
    waiting.add(key);
    last = last.then(() => work(signal)).then(
      () => waiting.delete(key),
      // Nobody waits for it, and whoever needs it next asks for it again.
      () => waiting.delete(key),
    );
    return true;
  };
}
