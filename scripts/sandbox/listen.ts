/** An HTTP server on loopback that is done when its scope is. */
export interface Listener extends AsyncDisposable {
  /** By name, because a PDS fetches nothing from an IP address. */
  readonly url: string;
  readonly port: number;
}

/** Serves on 127.0.0.1; port 0 takes a free one. */
export function listen(
  port: number,
  answer: (request: Request) => Promise<Response>,
): Listener {
  const closing = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, signal: closing.signal, onListen() {} },
    answer,
  );
  const bound = server.addr.port;
  return {
    url: `http://localhost:${bound}`,
    port: bound,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await server.finished;
    },
  };
}
