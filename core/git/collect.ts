import process from "node:process";

/** Below this the process is left to itself. */
const ENOUGH = 220 << 20;
/** The memory is looked at each time so many bytes of objects were made, with what each leaves lying beside them. */
const BETWEEN = 32 << 20;
/** A process that is larger is looked at sooner; one that is larger still has much alive, and would do little else. */
const MUCH = 330 << 20;
const SOON = 20 << 20;
const MOST = 450 << 20;
const AN_OBJECT = 2048;

let made = 0;
let between = BETWEEN;

/** Counts the bytes of an object that was made, and from time to time has dropped ones collected. */
export function countMade(bytes: number): void {
  made += bytes + AN_OBJECT;
  if (made > between) collectDropped();
}

/**
 * Has the runtime collect what nobody holds any more, where it lets itself be asked and the process has become large: by
 * itself it lets lie as much as is alive, and more while it looks.
 */
export function collectDropped(): void {
  made = 0;
  const gc: unknown = Reflect.get(globalThis, "gc");
  if (typeof gc !== "function" || process.memoryUsage.rss() < ENOUGH) return;
  gc();
  const left = process.memoryUsage.rss();
  between = left > MOST ? left / 5 : left > MUCH ? SOON : BETWEEN;
}
