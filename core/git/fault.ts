/** Something git's own check would say of an object. */
export interface Fault {
  /** The name git has for it. */
  readonly id: string;
  /** What it is, to follow "the tree <oid>". */
  readonly text: string;
  /** True for what old repositories hold and git works with. */
  readonly isOdd: boolean;
}
