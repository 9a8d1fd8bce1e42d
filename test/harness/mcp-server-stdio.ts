import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createTestMcpServer } from "./mcp-server.ts";

/** Run as a program: a server on stdin and stdout. `modern` = it refuses the older handshake, `noisy` = it prints. */
const [mode] = process.argv.slice(2);
if (mode === "noisy") process.stdout.write('Server is starting…\n{"level":"info"}\n[1, 2\n\n');
serveStdio(createTestMcpServer, { legacy: mode === "modern" ? "reject" : "serve" });
