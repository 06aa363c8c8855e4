// A client of the TypeScript SDK, which calls a server and prints what it got as JSON.
// Arguments: the mode of version negotiation; then the URL of the server, or the command that starts it.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, target, ...args] = process.argv.slice(2);
const key = process.env.TEST_KEY;
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: `Bearer ${key}` } } })
  : new StdioClientTransport({ command: target, args, cwd: process.env.TEST_FOLDER, stderr: "ignore" });

const client = new Client({ name: "typescript", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);
const version = client.getNegotiatedProtocolVersion();
const { tools } = await client.listTools();
const weather = await client.callTool({ name: "weather", arguments: { city: "Oslo" } });
const failed = await client.callTool({ name: "refuse", arguments: {} });
const picture = await client.callTool({ name: "picture", arguments: {} });
// The abort is due to the server's progress.
const stopped = new AbortController();
const cancelled = await client
  .callTool(
    { name: "wait", arguments: {} },
    { signal: stopped.signal, onprogress: () => stopped.abort("enough") },
  )
  .then(() => false, () => true);
const again = await client.callTool({ name: "weather", arguments: { city: "Lima" } });
await client.close();
console.log(
  JSON.stringify({
    version,
    tools: tools.map((each) => each.name),
    weather: weather.structuredContent,
    failed: [failed.isError, failed.content[0].text],
    picture: picture.content.map((each) => each.type),
    cancelled,
    again: again.structuredContent.city,
  }),
);
