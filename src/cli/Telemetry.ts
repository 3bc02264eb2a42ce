/**
 * Sends spans and metrics to an OpenTelemetry collector, configured by OpenTelemetry's variables. The metrics cover
 * calls, commands, denials and tokens, and are computed from the spans.
 */
import * as OtlpMetrics from "@effect/opentelemetry/OtlpMetrics"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import * as Attempt from "../domain/Attempt.js"
import { Blocked } from "../domain/CommandError.js"
import * as Version from "../domain/Version.js"

const seconds = MetricBoundaries.fromIterable([0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300])

const durations = {
  "Toolset.handle": Metric.histogram("synapse.call.duration", seconds, "The time that calls of tools take, in seconds"),
  "SandboxManager.execute": Metric.histogram(
    "synapse.command.duration",
    seconds,
    "The time that the shell's commands take, in seconds"
  )
}
const denials = Metric.counter("synapse.denials", {
  description: "Commands that the sandbox denied",
  incremental: true
})
const tokens = Metric.counter("gen_ai.client.token.usage", { description: "Tokens of models", incremental: true })

/** How long the end of the program waits for a collector, in milliseconds. */
const patience = 1000

/** Tags a metric with the listed attributes of a span. */
const tagged = <Type, In, Out>(metric: Metric.Metric<Type, In, Out>, span: Tracer.Span, names: ReadonlyArray<string>) =>
  names.reduce((tagged, name) => {
    const value = span.attributes.get(name)
    return value === undefined ? tagged : Metric.tagged(tagged, name, String(value))
  }, metric)

/** Updates the metrics when a span ends. */
const count = (span: Tracer.Span, end: bigint, exit: Exit.Exit<unknown, unknown>): void => {
  const { attributes, name } = span
  if (name === "Toolset.handle" || name === "SandboxManager.execute")
    tagged(durations[name], span, ["gen_ai.tool.name", "error.type"]).unsafeUpdate(
      Number(end - span.status.startTime) / 1e9,
      []
    )
  const error = Option.getOrUndefined(Exit.causeOption(exit).pipe(Option.flatMap(Cause.failureOption)))
  if (name === "SandboxManager.execute" && error instanceof Blocked)
    Metric.tagged(denials, "synapse.denial.reason", error.reason).unsafeUpdate(1, [])
  for (const type of ["input", "output"]) {
    const used = attributes.get(`gen_ai.usage.${type}_tokens`)
    if (typeof used === "number")
      Metric.tagged(tagged(tokens, span, ["gen_ai.request.model"]), "gen_ai.token.type", type).unsafeUpdate(used, [])
  }
}

/** Makes a tracer that counts its spans as they end. */
const counted = (tracer: Tracer.Tracer): Tracer.Tracer => ({
  ...tracer,
  span: (...given) => {
    const span = tracer.span(...given)
    const end = span.end.bind(span)
    span.end = (time, exit) => {
      count(span, time, exit)
      end(time, exit)
    }
    return span
  }
})

/** Reads `name=value,name=value`, with values encoded as in a URL. */
const pairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const [name = "", ...rest] = pair.split("=")
      const value = rest.join("=").trim()
      return name.trim() === "" ? [] : [[name.trim(), Attempt.orElse(() => decodeURIComponent(value), value)]]
    })
  )

const variable = (name: string) => Config.withDefault(Config.string(`OTEL_${name}`), "")

const settings = Config.all({
  attributes: Config.map(variable("RESOURCE_ATTRIBUTES"), pairs),
  disabled: variable("SDK_DISABLED"),
  headers: Config.map(variable("EXPORTER_OTLP_HEADERS"), pairs),
  protocol: variable("EXPORTER_OTLP_PROTOCOL"),
  service: variable("SERVICE_NAME")
})

/** Follows no redirect, because another host would get the headers, which may hold a key. */
const client = Layer.project(FetchHttpClient.layer, HttpClient.HttpClient, HttpClient.HttpClient, (client) =>
  HttpClient.transformResponse(client, Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }))
)

/** A layer that sends traces until its scope ends. `endpoint` is the collector's address. */
export const layer = (endpoint: string): Layer.Layer<never> =>
  Layer.unwrapEffect(
    Effect.map(Effect.orDie(settings), ({ attributes, disabled, headers, protocol, service }) => {
      if (disabled === "true") return Layer.empty
      const url = (signal: string) => `${endpoint.replace(/\/+$/, "")}/v1/${signal}`
      const serviceName = service || attributes["service.name"] || "synapse"
      const resource = { serviceName, serviceVersion: Version.current, attributes }
      const options = { headers, resource, shutdownTimeout: patience }
      const tracer = Effect.map(OtlpTracer.make({ ...options, url: url("traces") }), (tracer) =>
        Layer.setTracer(counted(tracer))
      )
      return Layer.mergeAll(Layer.unwrapScoped(tracer), OtlpMetrics.layer({ ...options, url: url("metrics") })).pipe(
        Layer.provide([
          protocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf,
          client
        ])
      )
    })
  )
