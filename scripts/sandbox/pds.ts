/** The reference PDS, in this process, on loopback. */
import { UnfitError } from "../options.ts";
import type { Server } from "node:http";
import { createServer } from "node:net";
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import type { PlcLibrary } from "./plc.ts";

interface Pds {
  readonly app: { listen(port: number, host: string): Server };
  readonly ctx: {
    readonly accountManager: { getAccount(handle: string): Promise<{ did: string } | null> };
    readonly sequencer: { start(): Promise<void> };
    destroy(): Promise<void>;
  };
}

/** What the bundle exports. */
export interface Bundle extends PlcLibrary {
  readonly PDS: { create(config: unknown, secrets: unknown): Promise<Pds> };
  envToCfg(settings: Readonly<Record<string, unknown>>): unknown;
  envToSecrets(settings: Readonly<Record<string, unknown>>): unknown;
  skipSyncs(): void;
}

/** Keys of a PDS: without them its accounts cannot be signed for. */
export interface Secrets {
  readonly jwtSecret: string;
  readonly dpopSecret: string;
  readonly adminPassword: string;
  readonly plcRotationKeyK256PrivateKeyHex: string;
}

export interface PdsOptions {
  readonly directory: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Where clients reach it, if not at `port`: what stands in front passes on to `port`. */
  readonly publicPort: number | undefined;
  readonly plc: string;
  readonly secrets: Secrets;
  /** Bytes. */
  readonly blobLimit: number;
  readonly rateLimits: boolean;
}

export interface RunningPds extends AsyncDisposable {
  /** What its documents name. */
  readonly url: string;
  /** Where it listens. */
  readonly port: number;
  /** Gives the DID of an account of this PDS, as of now. */
  didOf(handle: string): Promise<string | undefined>;
}

/** Loads the bundle made by `prepareBundle`. */
export async function importBundle(path: string): Promise<Bundle> {
  return await import(pathToFileURL(path).href);
}

/** Gives fresh keys for a PDS. */
export function makeSecrets(): Secrets {
  const hex = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)).toHex();
  return {
    jwtSecret: hex(16),
    dpopSecret: hex(32),
    adminPassword: hex(12),
    plcRotationKeyK256PrivateKeyHex: hex(32),
  };
}

/** Starts a PDS on 127.0.0.1 and answers once it listens. */
export async function startPds(bundle: Bundle, options: PdsOptions): Promise<RunningPds> {
  // The URL goes into the configuration and every DID document, so the port is held from the start.
  const holder = createServer();
  holder.listen(options.port, "127.0.0.1");
  await once(holder, "listening").catch((cause) => {
    throw new UnfitError(`port ${options.port} is not to be had: ${cause.message}`, { cause });
  });
  const address = holder.address();
  const port = typeof address === "object" && address ? address.port : options.port;

  const blobs = `${options.directory}/blobs`;
  await Deno.mkdir(blobs, { recursive: true });
  const publicPort = options.publicPort ?? port;
  const settings = {
    port: publicPort,
    hostname: "localhost",
    devMode: true,
    inviteRequired: false,
    serviceHandleDomains: [".test"],
    didPlcUrl: options.plc,
    dataDirectory: options.directory,
    blobstoreDiskLocation: blobs,
    blobUploadLimit: options.blobLimit,
    rateLimitsEnabled: options.rateLimits,
    ...options.secrets,
  };
  const { app, ctx } = await bundle.PDS.create(
    bundle.envToCfg(settings),
    bundle.envToSecrets(settings),
  );
  await ctx.sequencer.start();
  await new Promise((closed) => holder.close(closed));
  const server = app.listen(port, "127.0.0.1");
  server.keepAliveTimeout = 90_000;
  await once(server, "listening");

  return {
    url: `http://localhost:${publicPort}`,
    port,
    didOf: async (handle) => (await ctx.accountManager.getAccount(handle))?.did,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      await ctx.destroy();
    },
  };
}
