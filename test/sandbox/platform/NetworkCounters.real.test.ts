/**
 * The kernel's counters, in a real empty network.
 */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Readline from "node:readline"
import { assert, describe, it } from "@effect/vitest"
import * as NetworkMeter from "../../../src/sandbox/platform/NetworkMeter.js"
import * as ProcessTable from "../../../src/session/ProcessTable.js"
import * as Bubblewrap from "../../support/denial/Bubblewrap.js"
import { withWorld } from "../../support/denial/World.js"

const python = (code: string) => `python3 -c 'import socket as s\n${code}'`
const send = (family: string, host: string) =>
  python(`s.socket(s.${family}, s.SOCK_DGRAM).sendto(b"x", ("${host}", 53))`)

const reaching = [
  "echo > /dev/tcp/1.1.1.1/80",
  "echo > /dev/udp/1.1.1.1/53",
  "echo > /dev/tcp/2606:4700::1111/80",
  "getent hosts example.com",
  send("AF_INET", "8.8.8.8"),
  send("AF_INET6", "2606:4700::1111"),
  python('s.create_connection(("169.254.169.254", 80), 1)'),
  python('s.getaddrinfo("example.com", 80)'),
  'node -e \'require("net").connect(80, "1.1.1.1").on("error", () => {})\'',
  "curl -s http://example.com",
  "git ls-remote https://example.com/a/b"
]

const staying = [
  "true",
  "hostname",
  "hostname -f",
  "echo > /dev/tcp/127.0.0.1/1",
  "getent ahosts localhost",
  send("AF_INET", "127.0.0.1"),
  python('a = s.create_server(("127.0.0.1", 0)); s.create_connection(a.getsockname())'),
  python('import http.server as h; h.HTTPServer(("", 0), h.BaseHTTPRequestHandler)'),
  "node -e 'require(\"http\").createServer().listen(0, function () { this.close() })'",
  "git init -q . && git status"
]

const programs = ["python3", "node", "curl", "git", "getent"]
const missing = programs.filter((program) => ChildProcess.spawnSync("which", [program]).status !== 0)
const canRun = (command: string): boolean => !missing.some((program) => command.startsWith(program))

describe.skipIf(!Bubblewrap.isThere)("the counters of an empty network", () => {
  if (missing.length > 0) it.skip(`count what programs try that are not here: ${missing.join(", ")}`)

  it("count every attempt to leave it, and nothing that stays in it", { timeout: 60_000 }, () =>
    withWorld(async (world) => {
      const bash = [
        "bash",
        "--norc",
        "-c",
        'while IFS= read -r -d "" c; do (eval "$c") >/dev/null 2>&1 </dev/null; echo; done'
      ]
      const child = ChildProcess.spawn("bwrap", [...Bubblewrap.planOf(world), ...bash], {
        stdio: ["pipe", "pipe", "inherit"]
      })
      const lines = Readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const run = async (command: string) => {
        child.stdin.write(`${command}\0`)
        await lines.next()
      }
      await run("true")
      const [pid = 0] = ProcessTable.below(child.pid ?? 0)
      const source = NetworkMeter.counters(pid)
      const read = () => source?.read() ?? Number.NaN
      const attempts = async (command: string) => {
        const before = read()
        await run(command)
        return read() - before
      }
      assert.isNotEmpty(reaching.filter(canRun))
      assert.isNotEmpty(staying.filter(canRun))
      for (const command of reaching.filter(canRun)) assert.isAbove(await attempts(command), 0, command)
      for (const command of staying.filter(canRun)) assert.strictEqual(await attempts(command), 0, command)
      child.stdin.end()
      await once(child, "close")
      source?.close()
      assert.isUndefined(NetworkMeter.open(pid))
    })
  )
})
