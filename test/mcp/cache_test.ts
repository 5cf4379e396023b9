import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { assertEquals } from "@std/assert";
import type { Client } from "@modelcontextprotocol/sdk/client";
import { binary } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";
import { connect, textsOf } from "../support/mcp.ts";
import { type Network, openNetwork } from "../support/network.ts";

const TEMPLATE = "knotless://{owner}/{repo}/file/{rev}/{+path}";
const SERVERS = 8;

describe("servers over the mirrors of one machine", () => {
  let network: Network;
  let home: Home;
  let repo: string;
  let client: Client & AsyncDisposable;

  const serve = async (env: Record<string, string>) => await connect(await binary(), ["mcp"], env);

  const call = async (client: Client, name: string, args: object): Promise<string> => {
    const answer = await client.callTool({ name, arguments: { ...args } });
    const [text = ""] = textsOf(answer);
    if (answer.isError) throw new Error(`${name}: ${text}`);
    return text;
  };

  const complete = async (client: Client, name: string, value: string, chosen = {}) => {
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: TEMPLATE },
      argument: { name, value },
      context: { arguments: chosen },
    });
    return completion.values;
  };

  beforeAll(async () => {
    network = await openNetwork();
    home = await openHome(network, { name: "owner" });
    repo = `${home.account.handle}/shared`;
    client = await serve(home.env);
    await call(client, "repo_create", { name: "shared" });
    const changes = [
      { path: "src/main file.ts", content: "main\n" },
      { path: "src/a%20b.ts", content: "escaped\n" },
      { path: "README.md", content: "read\n" },
    ];
    await call(client, "repo_commit", { repo, message: "begin", changes });
    await call(client, "branch_create", { repo, name: "topic/x" });
    await call(client, "tag_create", { repo, name: "v1.0" });
  });
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
  });

  it("read a file by URI, however its parts are written", async () => {
    const { handle, did } = home.account;
    const read = async (rest: string) => {
      const { contents } = await client.readResource({ uri: `knotless://${rest}` });
      return contents.map((content) => "text" in content ? content.text : content.mimeType);
    };
    for (const owner of [handle, did, did.replaceAll(":", "%3A")]) {
      assertEquals(await read(`${owner}/shared/file/topic%2Fx/src/main%20file.ts`), ["main\n"]);
    }
    assertEquals(await read(`${handle}/shared/file/v1.0/src/a%20b.ts`), ["escaped\n"]);
    assertEquals(await read(`${handle}/shared/file/HEAD/src/a%2520b.ts`), ["escaped\n"]);
  });

  it("complete a URI's parts by what the machine has", async () => {
    const { handle: owner } = home.account;
    assertEquals(await complete(client, "owner", owner.slice(0, 5)), [owner]);
    assertEquals(await complete(client, "repo", "sh", { owner }), ["shared"]);
    const at = { owner, repo: "shared" };
    assertEquals(await complete(client, "rev", "", at), ["main", "topic/x", "v1.0"]);
    assertEquals(await complete(client, "rev", "TOP", at), ["topic/x"]);
    assertEquals(await complete(client, "path", "", { ...at, rev: "main" }), ["README.md", "src/"]);
    assertEquals(
      await complete(client, "path", "src/m", { ...at, rev: "topic/x" }),
      ["src/main file.ts"],
    );
    assertEquals(await complete(client, "path", "src/m", { ...at, rev: "nothing" }), []);
  });

  it("complete nothing, and ask nobody, where the machine has nothing", async () => {
    await using other = await openHome(network, { account: home.account, login: false });
    await using cold = await serve(other.env);
    const { handle: owner } = home.account;
    assertEquals(await complete(cold, "owner", ""), []);
    assertEquals(await complete(cold, "repo", "", { owner }), []);
    assertEquals(await complete(cold, "rev", "", { owner, repo: "shared" }), []);
    assertEquals(await complete(cold, "owner", "", { owner: "../x" }), []);
  });

  it("stay right when eight of them read and write at once", async () => {
    await using fresh = await openHome(network, { account: home.account });
    const clients = await Promise.all(Array.from({ length: SERVERS }, () => serve(fresh.env)));
    try {
      const texts = await Promise.all(clients.map(async (client, at) => {
        const path = `by/${at}.txt`;
        const before = await call(client, "repo_read", { repo, path: "README.md" });
        const changes = [{ path, content: `${at}\n` }];
        await call(client, "repo_commit", { repo, message: `by ${at}`, changes });
        return [before, await call(client, "repo_read", { repo, path })];
      }));
      assertEquals(texts, clients.map((_, at) => ["read\n", `${at}\n`]));
      for (const client of clients) {
        const { entries } = JSON.parse(await call(client, "repo_tree", { repo, path: "by" }));
        assertEquals(entries.length, SERVERS);
        const { commits } = JSON.parse(await call(client, "repo_log", { repo, path: "by" }));
        assertEquals(commits.length, SERVERS);
      }
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  });
});
