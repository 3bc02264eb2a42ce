/** The program as it is installed, with a collector of OpenTelemetry's that takes what it sends. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as Timers from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import * as ModelServer from "../support/agent/ModelServer.js"
import * as AgentPlace from "../support/cli/AgentPlace.js"
import { run } from "../support/cli/Real.js"
import { isSandboxed } from "../support/sandbox/Bubblewrap.js"
import * as Temporary from "../support/Temporary.js"

interface Value {
  readonly stringValue?: string
  readonly intValue?: number
  readonly doubleValue?: number
}
type Attributes = ReadonlyArray<{ readonly key: string; readonly value: Value }>
interface Point {
  readonly attributes: Attributes
  readonly asDouble?: number
  readonly count?: number
}
interface Metrics {
  readonly name: string
  readonly sum?: { readonly dataPoints: ReadonlyArray<Point> }
  readonly histogram?: { readonly dataPoints: ReadonlyArray<Point> }
}
interface Span {
  readonly name: string
  readonly traceId: string
  readonly attributes: Attributes
}
interface Sent {
  readonly paths: Array<string>
  readonly keys: Set<string | undefined>
  readonly spans: Array<Span>
  readonly metrics: Array<Metrics>
}

const valuesOf = (attributes: Attributes): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue])
  )

/** Runs with a collector, whose answers have that status; returns what was sent to it. */
const collecting = async (
  use: (env: Record<string, string>, sent: Sent) => Promise<void>,
  status: (path: string) => number = () => 200
): Promise<Sent> => {
  const sent: Sent = { paths: [], keys: new Set(), spans: [], metrics: [] }
  const server = http.createServer((request, response) => {
    let text = ""
    request.on("data", (chunk: Buffer) => {
      text += chunk
    })
    request.on("end", () => {
      sent.paths.push(request.url ?? "")
      sent.keys.add(request.headers.authorization)
      if (request.headers["content-type"] === "application/json") {
        const { resourceMetrics = [], resourceSpans = [] } = JSON.parse(text)
        for (const { scopeSpans } of resourceSpans) for (const { spans } of scopeSpans) sent.spans.push(...spans)
        for (const { scopeMetrics } of resourceMetrics)
          for (const { metrics } of scopeMetrics) sent.metrics.push(...metrics)
      }
      response.writeHead(status(request.url ?? ""), { location: "/elsewhere" }).end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  try {
    await use(
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20s3cret-of-the-collector",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        SYNAPSE_DAEMON: "0"
      },
      sent
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return sent
}

const pointsOf = ({ metrics }: Sent, name: string): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  metrics
    .filter((metric) => metric.name === name)
    .flatMap(({ histogram, sum }) => [...(histogram?.dataPoints ?? []), ...(sum?.dataPoints ?? [])])
    .map(({ asDouble, attributes, count }) => ({ ...valuesOf(attributes), value: asDouble ?? count }))

describe("telemetry", () => {
  it("of exec: the command by its name, and its exit code; a sandbox keeps the collector's key", async () => {
    const sent = await collecting(async (env) => {
      const { exitCode, stdout } = await run(["exec", "--ask", "never", "printenv OTEL_EXPORTER_OTLP_HEADERS"], "", env)
      if (isSandboxed) assert.deepStrictEqual([exitCode, stdout], [1, ""])
    })
    assert.deepStrictEqual([...sent.keys], ["Bearer s3cret-of-the-collector"])
    assert.deepStrictEqual([...new Set(sent.paths)].toSorted(), ["/v1/metrics", "/v1/traces"])
    const command = sent.spans.find(({ name }) => name === "SandboxManager.execute")
    assert.deepInclude(valuesOf(command?.attributes ?? []), { "synapse.command": "printenv" })
    assert.deepStrictEqual(pointsOf(sent, "synapse.command.duration"), [{ value: 1 }])
  })

  it("of an agent: one trace of its requests, calls and commands, with tokens", async () => {
    const script = [ModelServer.calls({ name: "Bash", arguments: { command: "echo one" } }), ModelServer.text("Done.")]
    const sent = await collecting((env) =>
      AgentPlace.using(script, async ({ start }) => {
        assert.strictEqual((await start(["--no-sandbox", "go"], { env }).ended).exitCode, 0)
      })
    )
    const traces = new Map(sent.spans.map(({ name, traceId }) => [name, traceId]))
    for (const name of ["AgentLoop.chat", "Toolset.handle", "BashRouter.route"])
      assert.strictEqual(traces.get(name), traces.get("AgentLoop.run"), name)
    assert.deepStrictEqual(pointsOf(sent, "synapse.call.duration"), [{ "gen_ai.tool.name": "Bash", value: 1 }])
    const used = pointsOf(sent, "gen_ai.client.token.usage")
    assert.deepStrictEqual(used.map((point) => point["gen_ai.token.type"]).toSorted(), ["input", "output"])
    for (const { value } of used) assert.isAbove(Number(value), 0)
  })

  it.skipIf(!isSandboxed)("of denials, by their reason", async () => {
    const sent = await collecting(async (env) => {
      assert.strictEqual((await run(["exec", "--ask", "never", "cat /etc/shadow"], "", env)).exitCode, 126)
    })
    assert.deepStrictEqual(pointsOf(sent, "synapse.denials"), [
      { "synapse.denial.reason": "on the blacklist (built in)", value: 1 }
    ])
  })

  it("of the daemon, which sends what the program that started it would", () =>
    Temporary.using(async (directory) => {
      const named = ({ spans }: Sent) => spans.map(({ attributes }) => valuesOf(attributes)["synapse.command"])
      const sent = await collecting(async (env, sent) => {
        const own = { ...env, HOME: directory, SYNAPSE_HOME: directory, XDG_RUNTIME_DIR: directory }
        const { exitCode } = await run(["exec", "--no-sandbox", "--session", "t", "uname"], "", {
          ...own,
          SYNAPSE_DAEMON: "auto"
        })
        assert.strictEqual(exitCode, 0)
        await run(["daemon", "stop"], "", own)
        for (let tries = 0; tries < 200 && !named(sent).includes("uname"); tries++) await Timers.setTimeout(50)
      })
      assert.include(named(sent), "uname")
    }))

  it("disturbs nothing where the collector refuses, leads elsewhere, or is not there, and is off where it is disabled", async () => {
    const echo = async (env: Record<string, string>) =>
      assert.deepInclude(await run(["exec", "--no-sandbox", "echo a"], "", env), {
        exitCode: 0,
        stdout: "a\n",
        stderr: ""
      })
    const { paths } = await collecting(echo, (path) => (path === "/v1/traces" ? 302 : 500))
    assert.deepStrictEqual([...new Set(paths)].toSorted(), ["/v1/metrics", "/v1/traces"])
    assert.deepStrictEqual((await collecting((env) => echo({ ...env, OTEL_SDK_DISABLED: "true" }))).paths, [])
    await echo({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" })
    await echo({ OTEL_EXPORTER_OTLP_ENDPOINT: "no address", OTEL_EXPORTER_OTLP_HEADERS: "a=%zz" })
  })
})
