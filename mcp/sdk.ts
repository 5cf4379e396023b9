/** The parts of the MCP SDK that run; imported when a server starts, for it is slow to load. */
export { Server } from "@modelcontextprotocol/sdk/server";
// The package names its types by a pattern that finds none for a path ending in .js.
// @ts-types="@modelcontextprotocol/sdk/types"
export { isJSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
