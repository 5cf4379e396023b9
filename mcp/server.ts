import type { Method, Methods } from "./connection.ts";
import { MODERN_VERSION, negotiate } from "./era.ts";
import { instructionsFor } from "./instructions.ts";
import type { Json } from "./message.ts";
import { type Offer, OFFERED, type OfferedMethod, type ServerOptions } from "./options.ts";

const CAPABILITIES = { tools: {}, resources: {}, completions: {} };

/** Makes what answers MCP: the handshakes here, so that they wait for nothing, and the rest from offer.ts. */
export function createMethods(options: ServerOptions): Methods {
  const { version, filter, report } = options;
  const info = { name: "knotless", version };
  const about = { capabilities: CAPABILITIES, instructions: instructionsFor(filter) };
  let offer: Promise<Offer> | undefined;
  const load = () => offer ??= import("./offer.ts").then(({ createOffer }) => createOffer(options));
  const later = (name: OfferedMethod): Method => async (params, exchange) =>
    await (await load())[name](params, exchange);
  let list: Promise<Json> | undefined;
  const shared: Record<string, Method> = {
    ...Object.fromEntries(OFFERED.map((name) => [name, later(name)])),
    "tools/list": () => list ??= import("./list.ts").then(({ listTools }) => listTools(options)),
  };
  return {
    info,
    report,
    legacy: {
      ...shared,
      initialize: ({ protocolVersion }) => ({
        protocolVersion: negotiate(protocolVersion),
        serverInfo: info,
        ...about,
      }),
      ping: () => ({}),
    },
    modern: {
      ...shared,
      "server/discover": () => ({ supportedVersions: [MODERN_VERSION], ...about }),
    },
  };
}
