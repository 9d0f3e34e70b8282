// A provider of OpenID Connect on this machine, for tests: oidc-provider with its forms for developers.
// Usage: node oidc_provider.mjs CALLBACK SECRET. It prints its port, and ends when its input ends.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [callback, secret] = process.argv.slice(2);
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [{ client_id: "arena", client_secret: secret, redirect_uris: [callback], response_types: ["code"],
      grant_types: ["authorization_code"] }],
    pkce: { required: () => true },
  });
  server.on("request", provider.callback());
  process.stdout.write(`${port}\n`);
});
process.stdin.resume();
process.stdin.on("end", () => process.exit());
