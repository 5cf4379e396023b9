import type { Oid } from "../core/git/object.ts";
import { isOid } from "../core/git/oid.ts";
import { unquotePath } from "../core/git/path.ts";

/** What git has asked for by `option` lines. */
export interface Options {
  verbosity: number;
  progress: boolean;
  dryRun: boolean;
  atomic: boolean;
  /** What `--force-with-lease` says of refs: the oid expected there, undefined for none. */
  readonly leases: Map<string, Oid | undefined>;
}

/** What holds until git says otherwise. */
export function defaultOptions(): Options {
  return { verbosity: 1, progress: false, dryRun: false, atomic: false, leases: new Map() };
}

/** Takes one option and gives the answer git waits for; `value` is as the line has it, absent when there is none. */
export function setOption(
  options: Options,
  name: string,
  value: string | undefined,
): "ok" | "unsupported" | `error ${string}` {
  switch (name) {
    case "verbosity":
      options.verbosity = Number(value);
      return "ok";
    case "progress":
      options.progress = value === "true";
      return "ok";
    case "dry-run":
      options.dryRun = value === "true";
      return "ok";
    case "atomic":
      options.atomic = value === "true";
      return "ok";
    // git has looked at its own reflog by now, and sends the lease that came of it.
    case "force-if-includes":
      return "ok";
    case "object-format":
      return value === undefined || value === "true" || value === "sha1"
        ? "ok"
        : "error knotless keeps SHA-1 repositories only";
    case "cas":
      return setLease(options, value ?? "");
    default:
      return "unsupported";
  }
}

function setLease({ leases }: Options, value: string): "ok" | `error ${string}` {
  const plain = value.startsWith('"') ? Buffer.from(unquotePath(value)).toString("latin1") : value;
  const [, ref, oid] = /^(.+):([0-9a-f]{40})$/.exec(plain) ?? [];
  if (ref === undefined || oid === undefined || !isOid(oid)) return "error not a lease";
  leases.set(ref, /^0+$/.test(oid) ? undefined : oid);
  return "ok";
}
