import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as LiveModelProvider from "../../../src/agent/model/LiveModelProvider.js"
import { ModelProvider } from "../../../src/agent/model/ModelProvider.js"
import * as ModelSettings from "../../../src/agent/model/ModelSettings.js"
import * as Turn from "../../../src/agent/model/Turn.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"

type Env = Readonly<Record<string, string>>

/** Runs with a home directory whose settings.json is this, and this environment. */
const within = <A, E>(
  { env = {}, settings }: { readonly env?: Env; readonly settings?: unknown },
  use: (provider: typeof ModelProvider.Service, home: string) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.acquireUseRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "synapse-test-"))),
    (home) => {
      const text = typeof settings === "string" ? settings : JSON.stringify(settings)
      if (settings !== undefined) fs.writeFileSync(path.join(home, "settings.json"), text)
      const layer = LiveModelProvider.layer.pipe(
        Layer.provide(SandboxSettings.layer({ home })),
        Layer.provide(
          ModelSettings.layer({
            provider: env["SYNAPSE_PROVIDER"],
            model: env["SYNAPSE_MODEL"],
            variable: ModelSettings.variablesOf(env)
          })
        )
      )
      return Effect.flatMap(ModelProvider, (provider) => use(provider, home)).pipe(Effect.provide(layer))
    },
    (home) => Effect.sync(() => fs.rmSync(home, { recursive: true, force: true }))
  )

const named = (given: { readonly env?: Env; readonly settings?: unknown }, name?: string) =>
  within(given, ({ model }) => Effect.map(model(name), (found) => `${found.provider}/${found.name}`))

const reasonOf = (given: { readonly env?: Env; readonly settings?: unknown }, name?: string) =>
  within(given, ({ model }, home) =>
    Effect.map(Effect.flip(model(name)), (error) => `${error._tag}: ${error.reason.replaceAll(home, "HOME")}`)
  )

const both = { ANTHROPIC_API_KEY: "a-key", OPENAI_API_KEY: "o-key" }
const local = { kind: "compatible", baseUrl: "http://localhost:11434/v1", model: "qwen" }

describe("the model that is asked for", () => {
  it.effect.each([
    ["Anthropic's, by its key", { env: { ANTHROPIC_API_KEY: "k", SYNAPSE_MODEL: "m" } }, undefined, "anthropic/m"],
    ["OpenAI's, by its key", { env: { OPENAI_API_KEY: "k", SYNAPSE_MODEL: "m" } }, undefined, "openai/m"],
    [
      "of SYNAPSE_PROVIDER",
      { env: { ...both, SYNAPSE_PROVIDER: "openai", SYNAPSE_MODEL: "m" } },
      undefined,
      "openai/m"
    ],
    ["of SYNAPSE_MODEL", { env: { ...both, SYNAPSE_MODEL: "claude-x" } }, undefined, "anthropic/claude-x"],
    ["of SYNAPSE_MODEL with its provider", { env: { ...both, SYNAPSE_MODEL: "openai/x" } }, undefined, "openai/x"],
    [
      "of a server by its address alone",
      { env: { OPENAI_BASE_URL: "http://h/v1", SYNAPSE_MODEL: "m" } },
      undefined,
      "compatible/m"
    ],
    ["of the only provider in the file", { settings: { providers: { local } } }, undefined, "local/qwen"],
    [
      "of the file, before a key",
      { env: both, settings: { provider: "local", providers: { local } } },
      undefined,
      "local/qwen"
    ],
    [
      "of the environment, before the file",
      {
        env: { ...both, SYNAPSE_PROVIDER: "openai" },
        settings: { provider: "local", model: "x", providers: { local, openai: { model: "o" } } }
      },
      undefined,
      "openai/o"
    ],
    [
      "of the file's own name",
      { env: both, settings: { provider: "anthropic", model: "claude-y" } },
      undefined,
      "anthropic/claude-y"
    ],
    [
      "of another provider by name",
      { env: both, settings: { provider: "anthropic", model: "claude-y", providers: { openai: { model: "o" } } } },
      "openai",
      "openai/o"
    ],
    [
      "whose name has a slash",
      { settings: { providers: { local } } },
      "meta-llama/Llama-3",
      "local/meta-llama/Llama-3"
    ],
    [
      "whose name has a slash behind its provider",
      { env: both, settings: { providers: { local } } },
      "local/meta-llama/Llama-3",
      "local/meta-llama/Llama-3"
    ]
  ] as const)("is the one %s", ([, given, name, expected]) =>
    Effect.map(named(given, name), (found) => assert.strictEqual(found, expected))
  )

  it.effect.each([
    [
      "nothing is set up",
      {},
      undefined,
      /^ExecutionFailed: No model is set up\. Set ANTHROPIC_API_KEY or OPENAI_API_KEY, and SYNAPSE_MODEL, .* HOME\/settings\.json/
    ],
    [
      "a model is named, and no provider",
      { env: { SYNAPSE_MODEL: "gpt-x" } },
      undefined,
      /^ExecutionFailed: No provider is set up for the model "gpt-x"\. Set ANTHROPIC_API_KEY or OPENAI_API_KEY in the environment, or name/
    ],
    [
      "no model is named",
      { env: { ANTHROPIC_API_KEY: "k" } },
      undefined,
      /^ExecutionFailed: No model of the provider anthropic is named: set SYNAPSE_MODEL to the id of one, as the provider lists them, or providers\.anthropic\.model in HOME\/settings\.json$/
    ],
    [
      "there is no key",
      { env: { SYNAPSE_PROVIDER: "anthropic", SYNAPSE_MODEL: "m" } },
      undefined,
      /^ExecutionFailed: There is no key for the provider anthropic: set ANTHROPIC_API_KEY, or providers\.anthropic\.apiKey in HOME\/settings\.json$/
    ],
    [
      "the provider is unknown",
      { env: { SYNAPSE_PROVIDER: "antropic" } },
      undefined,
      /^InvalidUsage: No provider is named "antropic"\. Did you mean anthropic\? There are anthropic, openai, compatible;/
    ],
    [
      "there is no address",
      { env: { SYNAPSE_PROVIDER: "compatible", SYNAPSE_MODEL: "m" } },
      undefined,
      /^ExecutionFailed: The provider compatible has no address: set OPENAI_BASE_URL, or providers\.compatible\.baseUrl in HOME/
    ],
    [
      "there is no model",
      { settings: { providers: { local: { baseUrl: "http://h" } } } },
      undefined,
      /^ExecutionFailed: No model of the provider local is named: set SYNAPSE_MODEL to the id of one, as the provider lists them, or providers\.local\.model in HOME/
    ],
    [
      "the address is none",
      { env: { SYNAPSE_MODEL: "m", ...both, ANTHROPIC_BASE_URL: "ftp://u:secret@h" } },
      undefined,
      /^InvalidUsage: ANTHROPIC_BASE_URL is no address of a server: (?!.*secret)/
    ],
    [
      "the key can't be sent",
      { env: { SYNAPSE_MODEL: "m", ANTHROPIC_API_KEY: "se cret" } },
      undefined,
      /^InvalidUsage: The key of ANTHROPIC_API_KEY holds a character (?!.*cret)/
    ],
    [
      "a header can't be sent",
      { settings: { providers: { local: { ...local, headers: { "x-a": "b\r\nc: d" } } } } },
      undefined,
      /^InvalidUsage: providers\.local\.headers in HOME\/settings\.json: "x-a" can't be sent/
    ],
    [
      "the file is no JSON",
      { settings: '{"providers": {"local": {"apiKey": sk-ant-secret}}}' },
      undefined,
      /^InvalidUsage: HOME\/settings\.json: it is no JSON: (?!.*secret)/
    ],
    [
      "a name is unknown",
      { settings: { modle: "x" } },
      undefined,
      /^InvalidUsage: HOME\/settings\.json: modle: is unexpected, expected: "\$schema" \| "provider" \| "model" \| "providers" \| "prices"$/
    ],
    [
      "a name in a provider is unknown",
      { settings: { providers: { local: { url: "x" } } } },
      undefined,
      /^InvalidUsage: HOME\/settings\.json: providers\.local\.url: is unexpected, expected: .*"baseUrl"/
    ],
    [
      "a key is no text",
      { settings: { providers: { local: { apiKey: 12345 } } } },
      undefined,
      /^InvalidUsage: HOME\/settings\.json: providers\.local\.apiKey: it must be text$/
    ],
    [
      "a price is negative",
      { settings: { prices: { "*": { input: -1, output: 1 } } } },
      undefined,
      /^InvalidUsage: HOME\/settings\.json: prices\["\*"\]\.input: Expected a number between 0 and 1000000000, actual -1$/
    ],
    [
      "the kind is unknown",
      { settings: { providers: { local: { kind: "x" } } } },
      undefined,
      /^InvalidUsage: HOME\/settings\.json: providers\.local\.kind: it must be "anthropic", "openai" or "compatible"$/
    ]
  ] as const)("is refused where %s", ([, given, name, expected]) =>
    Effect.map(reasonOf(given, name), (reason) => assert.match(reason, expected))
  )

  it.effect("is not looked for in a file that is not regular or too large", () =>
    Effect.gen(function* () {
      const large = yield* reasonOf({ settings: " ".repeat(1024 ** 2 + 1) })
      assert.strictEqual(large, "InvalidUsage: HOME/settings.json: it is larger than 1048576 bytes")
      const directory = yield* within({}, ({ model }, home) => {
        fs.mkdirSync(path.join(home, "settings.json"))
        return Effect.map(Effect.flip(model()), ({ reason }) => reason)
      })
      assert.match(directory, /settings\.json: it is a directory$/)
    })
  )

  it.effect("has its window and its price", () =>
    Effect.gen(function* () {
      const prices = {
        "*": { input: 9, output: 9 },
        "claude-*": { input: 3, output: 15, cached: 0.3 },
        "local/qwen": { input: 0, output: 0 }
      }
      const settings = { providers: { local: { ...local, contextWindow: 8192 } }, prices }
      const found = yield* within({ env: both, settings }, ({ model }) =>
        Effect.forEach(["claude-sonnet-4-5", "local/qwen", "openai/gpt-4.1"], (name) =>
          Effect.map(model(name), ({ contextWindow, price }) => [contextWindow, price])
        )
      )
      assert.deepStrictEqual(found, [
        [200_000, { input: 3, output: 15, cached: 0.3 }],
        [8192, { input: 0, output: 0 }],
        [1_000_000, { input: 9, output: 9 }]
      ])
    })
  )
})

describe("a model that was found", () => {
  it.scopedLive("is asked at the address of its settings, with their key", () =>
    Effect.gen(function* () {
      const server = yield* ModelServer.serve((request) => ModelServer.text(request.path))
      const withUser = server.url.replace("//", "//user:pa%20ss@")
      const ask = (given: { readonly env?: Env; readonly settings?: unknown }) =>
        within(given, ({ model }) =>
          Effect.flatMap(model(), (found) =>
            Effect.map(
              Stream.runCollect(Turn.stream(found, { prompt: "?", tools: [Models.bash] })),
              (parts) => Models.finished([...parts]).text
            )
          )
        )
      const asked = yield* Effect.all([
        ask({ env: { ...server.env, OPENAI_API_KEY: "" } }),
        ask({ env: { ...server.env, ANTHROPIC_API_KEY: "" } }),
        ask({ env: { ...server.env, SYNAPSE_PROVIDER: "compatible", SYNAPSE_MODEL: "m" } }),
        ask({ settings: { providers: { local: { ...local, baseUrl: `${server.url}/` } } } }),
        ask({ settings: { providers: { local: { ...local, baseUrl: `${withUser}/api/v2/chat/completions` } } } }),
        ask({
          env: { MY_KEY: "mine\n" },
          settings: {
            providers: {
              local: { ...local, baseUrl: `${server.url}/v1`, apiKeyVariable: "MY_KEY", headers: { "X-A": "b" } }
            }
          }
        })
      ])
      assert.deepStrictEqual(asked, [
        "/v1/messages",
        "/v1/responses",
        "/v1/chat/completions",
        "/v1/chat/completions",
        "/api/v2/chat/completions",
        "/v1/chat/completions"
      ])
      assert.deepStrictEqual(
        server.requests.map(({ headers }) => headers["x-api-key"] ?? headers.authorization),
        [
          ModelServer.key,
          `Bearer ${ModelServer.key}`,
          `Bearer ${ModelServer.key}`,
          undefined,
          `Basic ${Buffer.from("user:pa ss").toString("base64")}`,
          "Bearer mine"
        ]
      )
      assert.strictEqual(server.requests[5]?.headers["x-a"], "b")
    })
  )
})
