import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Proxy from "../../../src/agent/model/internal/Proxy.js"
import * as ModelSettings from "../../../src/agent/model/ModelSettings.js"
import * as ModelServer from "../../support/agent/ModelServer.js"
import * as Models from "../../support/agent/Models.js"
import * as ProxyServer from "../../support/agent/ProxyServer.js"

type Env = Readonly<Record<string, string>>

const of = (env: Env, protocol: "http:" | "https:" = "https:") =>
  Either.map(Proxy.of(ModelSettings.variablesOf(env), protocol), (proxy) =>
    proxy === undefined ? undefined : [proxy.setting, Redacted.value(proxy.url), proxy.except]
  )

const portOf = ({ url }: ModelServer.ModelServer): number => Number(new URL(url).port)

/** Asks the model at an address for a turn, with a proxy of this environment. */
const ask = (env: Env, baseUrl: string) =>
  Effect.flatMap(Proxy.of(ModelSettings.variablesOf(env), new URL(baseUrl).protocol as "http:" | "https:"), (proxy) =>
    Models.ask({ url: "" }, "compatible", {
      endpoint: { baseUrl, proxy, retry: { retries: 0, first: 1, longest: 1, longestAsked: 1 } }
    })
  )

const own = "localhost,127.0.0.1,[::1]"

describe("the proxy of models", () => {
  it("is the one of the address's protocol, in small letters first; a host alone is one of http", () => {
    const both = { HTTPS_PROXY: "http://a:1", http_proxy: "http://b:2", HTTP_PROXY: "http://c:3" }
    assert.deepStrictEqual(of(both), Either.right(["HTTPS_PROXY", "http://a:1", `,${own}`]))
    assert.deepStrictEqual(of(both, "http:"), Either.right(["http_proxy", "http://b:2", `,${own}`]))
    assert.deepStrictEqual(of({ HTTP_PROXY: "http://c:3" }), Either.right(undefined))
    assert.deepStrictEqual(
      of({ https_proxy: "proxy.example:3128", NO_PROXY: "x.example" }),
      Either.right(["https_proxy", "http://proxy.example:3128", `x.example,${own}`])
    )
    assert.deepStrictEqual(of({ https_proxy: "h", no_proxy: "*" }), Either.right(["https_proxy", "http://h", "*"]))
  })

  it.each(["ftp://x", "http://", "http://u:%zz@h", "http://a b"])(
    "%s is no address; it is not shown",
    (HTTPS_PROXY) => {
      const { message } = Either.getOrThrow(Either.flip(of({ HTTPS_PROXY })))
      assert.strictEqual(message, "HTTPS_PROXY is no address of a proxy: it is one such as http://proxy.example:3128")
    }
  )

  it.live("gets requests to http addresses, with its own password", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* ModelServer.serve([ModelServer.text("Hello.")])
        const proxy = yield* ProxyServer.serve(portOf(server))
        const HTTP_PROXY = `http://me:s%40cret@127.0.0.1:${proxy.port}`
        const parts = yield* ask({ HTTP_PROXY }, "http://model.example/v1")
        assert.strictEqual(Models.finished(parts).text, "Hello.")
        assert.deepStrictEqual(proxy.asked, ["POST http://model.example/v1/chat/completions"])
        assert.deepStrictEqual(proxy.authorized, [`Basic ${Buffer.from("me:s@cret").toString("base64")}`])
      })
    )
  )

  it.live("makes a tunnel to https addresses, and sees no key", () =>
    Effect.scoped(
      Effect.gen(function* () {
        // It speaks no TLS: what matters is what the proxy sees.
        const server = yield* ModelServer.serve([])
        const proxy = yield* ProxyServer.serve(portOf(server))
        const HTTPS_PROXY = `http://127.0.0.1:${proxy.port}`
        const error = yield* Effect.flip(ask({ HTTPS_PROXY }, "https://model.example/v1"))
        assert.deepStrictEqual([proxy.asked, server.requests.length], [["CONNECT model.example:443"], 0])
        assert.match(
          error.reason,
          /^No connection to compatible at https:\/\/model\.example\/v1 .* the proxy of HTTPS_PROXY$/
        )
        assert.include(proxy.read(), "model.example")
        assert.notInclude(proxy.read(), ModelServer.key)
        assert.notInclude(proxy.read().toLowerCase(), "bearer")
      })
    )
  )

  it.live("that refuses is named, and its password is not", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const proxy = yield* ProxyServer.serve(1, { refuses: true })
        const HTTPS_PROXY = `http://me:hunter22@127.0.0.1:${proxy.port}`
        const error = yield* Effect.flip(ask({ HTTPS_PROXY }, "https://model.example/v1"))
        assert.include(error.reason, "407")
        assert.include(error.reason, "check TEST_BASE_URL, and the proxy of HTTPS_PROXY")
        assert.notInclude(error.reason, "hunter22")
      })
    )
  )

  it.live("is not asked for this machine, nor for what NO_PROXY names", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* ModelServer.serve(() => ModelServer.text("Hello."))
        const proxy = yield* ProxyServer.serve(portOf(server))
        const HTTP_PROXY = `http://127.0.0.1:${proxy.port}`
        for (const host of ["127.0.0.1", "localhost"]) {
          const parts = yield* ask({ HTTP_PROXY }, `http://${host}:${portOf(server)}/v1`)
          assert.strictEqual(Models.finished(parts).text, "Hello.")
        }
        yield* Effect.flip(ask({ HTTP_PROXY, NO_PROXY: ".invalid" }, "http://model.invalid/v1"))
        assert.deepStrictEqual(proxy.asked, [])
      })
    )
  )
})
