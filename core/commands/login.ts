import type { SessionInfo } from "../atproto/session.ts";
import type { DamagedSession } from "../atproto/session_store.ts";
import type { Visitor } from "../atproto/redirect.ts";
import { command } from "../command.ts";
import type { Machine, MachineContext } from "../context.ts";
import { AuthError, NotFoundError, UsageError } from "../errors.ts";
import { columns } from "../text.ts";

/** What a command that lacks a login exits with. */
const LOGIN_ENDED = 4;

/** A login as the commands answer it. */
interface Login {
  readonly did: string;
  readonly handle: string;
  readonly pds: string;
  readonly kind: "oauth" | "password";
  readonly scopes: readonly string[];
  readonly missing: readonly string[];
}

/** A login of which no more than the account is known, for its file cannot be read. */
type Left = Login | Pick<Login, "did">;

function answer({ did, handle, pds, kind, scopes, missing }: SessionInfo): Login {
  return { did, handle, pds, kind, scopes, missing };
}

const login = command({
  name: "login",
  summary: "Sign in to an account on this machine",
  details:
    "Opens the PDS's own page in the browser and waits for it to come back; the address the browser ended on may be pasted instead, when it runs on another machine. With --app-password-stdin it reads an app password, for machines without a browser.",
  kind: "machine",
  params: ({ z, actor }) => ({
    handle: actor("the account's handle"),
    app_password_stdin: z.boolean().default(false)
      .describe("read an app password from stdin, one line"),
    no_browser: z.boolean().default(false).describe("print the address, open no browser"),
  }),
  positionals: ["handle"],
  examples: [
    { line: "login alice.test", says: "sign in through the browser" },
    {
      line: "login alice.test --app-password-stdin",
      says: "sign in where there is no browser",
    },
  ],
  async run(context, { handle, app_password_stdin, no_browser }) {
    const { sessions, identity, machine } = context;
    if (machine.noInput && !app_password_stdin) {
      throw new UsageError(
        "a login through the browser waits for a person, and none is to be asked",
        {
          hint: {
            command: "login",
            args: { handle, app_password_stdin: true },
          },
        },
      );
    }
    const account = await identity.resolve(handle);
    if (app_password_stdin) {
      return answer(await sessions.loginWithPassword(account, await readPassword(machine)));
    }
    const info = await sessions.loginWithBrowser(account, visitorAt(machine, !no_browser));
    if (info.missing.length > 0) {
      context.note(
        `not granted: ${info.missing.join(", ")}; what needs it will ask you to sign in again`,
      );
    }
    return answer(info);
  },
  render: ({ handle, did, pds }, style) =>
    style.terminal ? `Signed in as ${handle} (${did}) at ${pds}` : did,
});

async function readPassword(machine: Machine): Promise<string> {
  if (machine.interactive) machine.say("Type the app password, which is not shown, then Enter:");
  const line = (await machine.readSecret())?.replace(/\r$/, "");
  if (line) return line;
  throw new UsageError("no password came on stdin", {
    hint: "give an app password as one line on stdin",
  });
}

function visitorAt(machine: Machine, opens: boolean): Visitor {
  return {
    visit(url) {
      machine.say(`Sign in at this address, within 10 minutes:\n${url}`);
      machine.say(
        "If the browser runs on another machine, paste the address it ended on here, then Enter.",
      );
      // Nobody is there to see a browser where nobody can be asked.
      if (opens && machine.interactive) void machine.browse(url);
    },
    paste: (signal) => machine.readLine(signal),
    reject: (why) => machine.say(why),
  };
}

const status = command({
  name: "login status",
  summary: "Show the accounts signed in on this machine",
  details:
    "Asks each PDS whether it still takes the login: ok, ended, or unchecked when it could not be asked; damaged when its file cannot be read. Ends with 4 when one is ended or damaged.",
  kind: "machine",
  params: () => ({}),
  examples: [{ line: "login status", says: "show them, and which one commands act as" }],
  async run({ sessions, freshness, note, ...context }) {
    const reader = await context.reader();
    const infos = sessions.list();
    const damaged = sessions.listDamaged();
    const chosen = await sessions.choose().catch((error: unknown) => {
      if (!(error instanceof AuthError)) throw error;
      const hint = typeof error.hint === "string" ? `; ${error.hint}` : "";
      note(`${error.message}${hint}`);
      return undefined;
    });
    const states = await Promise.all(infos.map(async ({ did, ended }) => {
      if (ended) return "ended";
      return freshness.offline ? "unchecked" : await sessions.check(did);
    }));
    const accounts = infos.map((info, i) => ({
      ...answer(info),
      ...(info.expiresAt !== undefined && { expiresAt: info.expiresAt }),
      store: "file",
      path: info.path,
      applies: info.did === reader?.did,
      ...(info.did === reader?.did && {
        why: info.did === chosen?.info.did ? chosen.why : "it was asked for",
      }),
      state: states[i] ?? "unchecked",
    }));
    const unread = damaged.map((one) => ({
      ...one,
      store: "file",
      applies: false,
      state: "damaged",
    }));
    return { accounts: [...accounts, ...unread] };
  },
  exit: ({ accounts }) =>
    accounts.some(({ state }) => state === "ended" || state === "damaged") ? LOGIN_ENDED : 0,
  render: ({ accounts }, style) =>
    columns(
      accounts.map((account) => ({
        handle: account.did,
        pds: "",
        kind: "",
        ...account,
        applies: account.applies ? "yes" : "",
      })),
      ["handle", "did", "pds", "kind", "state", "applies"],
      style,
      ["handle", "pds", "kind", "state", "applies"],
    ),
});

const switchTo = command({
  name: "login switch",
  summary: "Act as another of the accounts signed in",
  kind: "machine",
  params: ({ actor }) => ({ handle: actor("the account's handle") }),
  positionals: ["handle"],
  examples: [{ line: "login switch bob.test", says: "act as bob.test from here on" }],
  async run(context, { handle }) {
    const { did } = await findLogin(context, handle);
    return answer(await context.sessions.switchTo(did));
  },
  render: ({ handle, did }, style) => style.terminal ? `Commands now act as ${handle}` : did,
});

const logout = command({
  name: "logout",
  summary: "Sign out of an account on this machine",
  kind: "machine",
  params: ({ z, actor }) => ({
    handle: actor("the account's handle (the one commands act as if not given)").optional(),
    all: z.boolean().default(false).describe("sign out of every account"),
  }),
  positionals: ["handle"],
  examples: [
    { line: "logout", says: "sign out of the account that commands act as" },
    { line: "logout --all", says: "leave no login on this machine" },
  ],
  async run(context, { handle, all }) {
    const { sessions } = context;
    if (all && handle !== undefined) throw new UsageError("give a handle or --all, not both");
    const damaged = all || handle !== undefined ? sessions.listDamaged() : [];
    const meant = all || damaged.length === 0
      ? damaged
      : await findDamaged(context, damaged, handle);
    const accounts: Left[] = [];
    for (const { did } of meant) {
      await sessions.logout(did);
      context.note(`the PDS of ${did} was not told: it takes the login until that ends`);
      accounts.push({ did });
    }
    const leaving = all
      ? sessions.list()
      : accounts.length > 0
      ? []
      : [await findLogin(context, handle)];
    for (const info of leaving) {
      if (!await sessions.logout(info.did)) {
        context.note(
          `${info.pds} could not be told: it takes the login of ${info.handle} until that ends`,
        );
      }
      accounts.push(answer(info));
    }
    return { accounts };
  },
  render: ({ accounts }, style) =>
    accounts.map((left) =>
      style.terminal ? `Signed out of ${"handle" in left ? left.handle : left.did}` : left.did
    ).join("\n"),
});

/** The damaged login that is meant: by DID, or by the handle it has now. */
async function findDamaged(
  { identity }: MachineContext,
  damaged: readonly DamagedSession[],
  actor = "",
): Promise<DamagedSession[]> {
  const resolved = actor.startsWith("did:")
    ? actor
    : await identity.resolve(actor).then((account) => account.did, () => undefined);
  return damaged.filter(({ did }) => did === resolved);
}

/** The login that is meant: by handle or DID as it was then, or as it is now. */
async function findLogin(
  { sessions, identity, ...context }: MachineContext,
  handle: string | undefined,
): Promise<SessionInfo> {
  const infos = sessions.list();
  if (handle === undefined) {
    const reader = await context.reader();
    const info = infos.find(({ did }) => did === reader?.did);
    if (info !== undefined) return info;
    await sessions.choose();
    throw new AuthError("none", "nobody is signed in on this machine");
  }
  const info = infos.find((info) => info.did === handle || info.handle === handle);
  if (info !== undefined) return info;
  const did = await identity.resolve(handle).then((account) => account.did, () => undefined);
  const renamed = infos.find((info) => info.did === did);
  if (renamed !== undefined) return renamed;
  // Its error names the file, where there is one that cannot be read.
  if (sessions.listDamaged().some((damaged) => damaged.did === did)) {
    await sessions.choose(did);
  }
  const known = infos.map(({ handle }) => handle).join(", ");
  throw new NotFoundError(`${handle} is not signed in on this machine`, {
    hint: known === "" ? { signIn: "none", account: handle } : `signed in: ${known}`,
  });
}

export default [login, status, switchTo, logout];
