import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as LiveModelProvider from "../src/agent/model/LiveModelProvider.js"
import * as Definition from "../src/extension/mcp/Definition.js"
import * as PlainFile from "../src/sandbox/config/PlainFile.js"
import * as SandboxFile from "../src/sandbox/config/SandboxFile.js"

const server = { command: "npx", args: ["-y", "server"], env: { A: "1" } }

/** A file of each kind as a user writes it, and whether Synapse reads it. */
const files = {
  "sandbox.json": {
    example: {
      $schema: "./node_modules/synapse-shell/dist/schemas/sandbox.json",
      enabled: true,
      policy: { filesystem: { whitelist: ["~/notes"], blacklist: ["**/*.pem"] }, unixSockets: false },
      env: ["NPM_TOKEN"]
    },
    isRead: (value: unknown) => Either.isRight(SandboxFile.decode(value))
  },
  "settings.json": {
    example: {
      $schema: "./node_modules/synapse-shell/dist/schemas/settings.json",
      provider: "local",
      providers: { local: { kind: "compatible", baseUrl: "http://localhost:8080/v1", contextWindow: 8192 } },
      prices: { "m-*": { input: 1, output: 2 } }
    },
    isRead: (value: unknown) =>
      Either.isRight(Schema.decodeUnknownEither(LiveModelProvider.SettingsFile)(value, { onExcessProperty: "error" }))
  },
  "mcp_servers.json": {
    example: {
      $schema: "./node_modules/synapse-shell/dist/schemas/mcp_servers.json",
      mcpServers: { files: server }
    },
    isRead: ({ mcpServers }: { mcpServers: Record<string, unknown> }) =>
      Object.values(mcpServers).every((value) => Either.isRight(Definition.decode(value)))
  }
} as const

interface JsonSchema {
  readonly type?: string
  readonly $ref?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean | JsonSchema
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

const typeOf = (value: unknown): string => (Array.isArray(value) ? "array" : typeof value)

/** Returns the places of a value that a schema does not allow, as far as types, names and lists of values say. */
const flaws = (schema: JsonSchema, value: unknown, defs: JsonSchema["$defs"] = {}, at = ""): ReadonlyArray<string> => {
  const {
    additionalProperties,
    enum: among,
    items,
    properties = {},
    type
  } = schema.$ref === undefined ? schema : (defs[schema.$ref.replace("#/$defs/", "")] ?? {})
  const isType = type === undefined || typeOf(value) === type || (type === "integer" && Number.isInteger(value))
  if (!isType || (among !== undefined && !among.includes(value))) return [at]
  if (Array.isArray(value)) return value.flatMap((one, index) => flaws(items ?? {}, one, defs, `${at}[${index}]`))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    const place = `${at}.${name}`
    if (known === false) return [place]
    return typeof known === "object" ? flaws(known, one, defs, place) : []
  })
}

/** Puts another value in a place of a value, counted from the outermost on. */
const replacedAt = (value: unknown, left: { place: number }, other: unknown): unknown => {
  if (left.place-- === 0) return other
  if (Array.isArray(value)) return value.map((one) => replacedAt(one, left, other))
  return Predicate.isReadonlyRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replacedAt(one, left, other)]))
    : value
}

describe("the shipped JSON Schemas", () => {
  for (const [name, { example, isRead }] of Object.entries(files)) {
    it(`allow what Synapse reads: ${name}`, () => {
      const schema: JsonSchema = JSON.parse(Fs.readFileSync(`dist/schemas/${name}`, "utf8"))
      assert.isTrue(isRead(example as never))
      assert.deepStrictEqual(flaws(schema, example, schema.$defs), [])
    })
  }

  it("name what Synapse refuses", () => {
    const of = (name: string, value: unknown) => {
      const schema: JsonSchema = JSON.parse(Fs.readFileSync(`dist/schemas/${name}`, "utf8"))
      return flaws(schema, value, schema.$defs)
    }
    assert.deepStrictEqual(of("sandbox.json", { enabled: "no", policy: { filesystem: { whitelist: [1] } } }), [
      ".enabled",
      ".policy.filesystem.whitelist[0]"
    ])
    const misspelt = {
      polcy: {},
      policy: { limits: { files: 1 }, network: { hosts: [] }, filesystem: { hiden: "empty" } }
    }
    assert.deepStrictEqual(of("sandbox.json", misspelt), [
      ".polcy",
      ".policy.limits.files",
      ".policy.network.hosts",
      ".policy.filesystem.hiden"
    ])
    assert.deepStrictEqual(of("settings.json", { modle: "x", providers: { a: { kind: "b" } } }), [
      ".modle",
      ".providers.a.kind"
    ])
    assert.deepStrictEqual(of("mcp_servers.json", { mcpServers: { a: { args: "x" } } }), [".mcpServers.a.args"])
  })

  it("let sandbox.json be read without its Schema, as that decodes it", () => {
    const shape = JSON.parse(Fs.readFileSync("dist/schemas/sandbox.json", "utf8"))
    const decoded = (value: unknown) => Either.getOrThrow(SandboxFile.decode(value))
    const filesystem = { blacklist: ["*.pem", { path: ".env", hidden: "empty" }], readable: ["~/.npmrc"] }
    const network = { allowedHosts: ["example.com"], deniedHosts: [] }
    const policy = { filesystem, network, unixSockets: "own", sockets: ["$A"], toolCache: false, temporary: "host" }
    for (const usual of [{}, files["sandbox.json"].example, { policy, profile: true, enabled: false }]) {
      assert.deepStrictEqual(PlainFile.read(usual, shape), decoded(usual))
    }
    for (const unusual of [
      null,
      { policy: null },
      { policy: { filesystem: { blacklist: [{ path: "a", hiden: "empty" }] } } }
    ])
      assert.isUndefined(PlainFile.read(unusual, shape))
    const other = FastCheck.oneof(FastCheck.jsonValue(), FastCheck.constantFrom("own", "empty", true, [], {}, ["a"]))
    FastCheck.assert(
      FastCheck.property(
        Arbitrary.make(Schema.encodedSchema(SandboxFile.SandboxFile)),
        FastCheck.nat(30),
        other,
        (file, place, other) => {
          const value = replacedAt(JSON.parse(JSON.stringify(file)), { place }, other)
          const plain = PlainFile.read(value, shape)
          if (plain !== undefined) assert.deepStrictEqual(plain, decoded(value))
        }
      ),
      { numRuns: 500 }
    )
  })
})
