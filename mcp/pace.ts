/** How long what may take, in milliseconds. */
export interface Pace {
  /** Until a client that cannot be told how a call goes is answered that it goes on. */
  readonly answer: number;
  /** Between two tellings that a call goes on. */
  readonly beat: number;
}

/** A little less than what clients wait, and than what they wait without hearing anything. */
export const PACE: Pace = { answer: 50_000, beat: 15_000 };
