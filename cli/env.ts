/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** True for a variable that is set to anything but nothing, 0 and false. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
