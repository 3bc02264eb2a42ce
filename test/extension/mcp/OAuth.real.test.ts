import * as Fs from "node:fs"
import type * as Http from "node:http"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RemoteFetch from "../../../src/extension/mcp/internal/RemoteFetch.js"
import type { McpEntry } from "../../../src/extension/mcp/McpConfig.js"
import * as OAuth from "../../../src/extension/mcp/OAuth.js"
import * as Authorization from "../../support/mcp/Authorization.js"
import * as HttpServers from "../../support/mcp/Http.js"
import * as Servers from "../../support/mcp/Servers.js"

type Remote = McpEntry & { readonly _tag: "Http" }

const entryOf = (url: string) => HttpServers.entry("far", url) as Remote

/** Follows an address as a browser does, after what others send to the place that it comes back to. */
const follow = (address: string) =>
  Effect.promise(async () => {
    const redirect = new URL(address).searchParams.get("redirect_uri") ?? ""
    for (const forged of ["?code=forged&state=forged", "?code=forged", "/../other?code=forged"]) {
      assert.strictEqual((await fetch(`${redirect}${forged}`)).status, 404)
    }
    assert.strictEqual((await fetch(`${new URL(redirect).origin}//`)).status, 404)
    assert.match(await (await fetch(address)).text(), /You can close this window/)
  })

describe("OAuth", () => {
  it("logs in by a browser, calls with the token, renews it, and says when the login has ended", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const server = yield* Authorization.make()
        const entry = entryOf(server.url)
        world.entries.push(entry)
        const before = yield* Effect.flip(client.call("far", "do", {}))
        assert.strictEqual(
          before.message,
          "The MCP server far wants a login. The user runs, in a terminal: synapse mcp login far"
        )
        assert.isTrue(yield* OAuth.login(world.home, entry, follow))
        assert.strictEqual(Servers.textOf(yield* client.call("far", "do", {})), "done")

        const [file = ""] = Fs.readdirSync(Path.join(world.home, "mcp", "oauth"))
        const path = Path.join(world.home, "mcp", "oauth", file)
        assert.strictEqual(Fs.statSync(path).mode & 0o777, 0o600)
        assert.strictEqual(Fs.statSync(Path.dirname(path)).mode & 0o777, 0o700)
        assert.include(Fs.readFileSync(path, "utf8"), server.access())

        server.expire(true)
        assert.strictEqual(Servers.textOf(yield* client.call("far", "do", {})), "done")
        assert.strictEqual(server.renewed(), 1)
        assert.include(Fs.readFileSync(path, "utf8"), server.access())

        // Another process has renewed it.
        const other = yield* Servers.client(world)
        server.expire(true)
        assert.strictEqual(Servers.textOf(yield* other.call("far", "do", {})), "done")
        assert.strictEqual(Servers.textOf(yield* client.call("far", "do", {})), "done")
        assert.strictEqual(server.renewed(), 2)

        server.expire(false)
        const fresh = yield* Servers.client(world)
        const late = yield* Effect.flip(fresh.call("far", "do", {}))
        assert.match(
          late.message,
          /^The MCP server far wants a new login\. The user runs, in a terminal: synapse mcp login far/
        )
        assert.isTrue(yield* OAuth.login(world.home, entry, follow))
        const again = yield* Servers.client(world)
        assert.strictEqual(Servers.textOf(yield* again.call("far", "do", {})), "done")
        assert.isTrue(OAuth.logout(world.home, entry))
        assert.isFalse(OAuth.logout(world.home, entry))
      })
    ))

  it("logs in to a server that lets anybody connect, and only wants a login for its tools", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const entry = entryOf((yield* Authorization.make({ isOpen: true })).url)
        world.entries.push(entry)
        assert.isTrue(yield* OAuth.login(world.home, entry, follow))
        assert.strictEqual(Servers.textOf(yield* client.call("far", "do", {})), "done")
      })
    ))

  it("asks for more rights at the next login, after a call has lacked them", () =>
    Servers.using((world, client) =>
      Effect.gen(function* () {
        const entry = entryOf((yield* Authorization.make({ isSteep: true })).url)
        world.entries.push(entry)
        const scopes: Array<string | null> = []
        const agree = (address: string) => {
          scopes.push(new URL(address).searchParams.get("scope"))
          return follow(address)
        }
        assert.isTrue(yield* OAuth.login(world.home, entry, agree))
        const lacking = yield* Effect.flip(client.call("far", "do", {}))
        assert.match(
          lacking.message,
          /^The MCP server far wants a new login\. The user runs, in a terminal: synapse mcp login far/
        )
        assert.isTrue(yield* OAuth.login(world.home, entry, agree))
        assert.strictEqual(Servers.textOf(yield* client.call("far", "do", {})), "done")
        assert.deepStrictEqual(scopes, ["look", "look change"])
      })
    ))

  it("keeps an old login where a new one fails, and gives no other address the tokens", () =>
    Servers.using((world) =>
      Effect.gen(function* () {
        const server = yield* Authorization.make()
        const entry = entryOf(server.url)
        yield* OAuth.login(world.home, entry, follow)
        assert.isTrue(OAuth.isLoggedIn(world.home, entry))
        assert.isFalse(OAuth.isLoggedIn(world.home, entryOf(`${server.url}/other`)))
        const stopped = yield* Effect.flip(
          OAuth.login(world.home, entry, () => Effect.die("the user has gone")).pipe(
            Effect.catchAllDefect((defect) => Effect.fail(defect))
          )
        )
        assert.strictEqual(stopped, "the user has gone")
        assert.isTrue(OAuth.isLoggedIn(world.home, entry))
      })
    ))

  it("asks no other host without TLS, gives it no header of the entry, and reads no answer without end", () =>
    Servers.using((world) =>
      Effect.gen(function* () {
        const echo: Http.RequestListener = (request, response) => response.end(request.headers["x-key"] ?? "none")
        const server = yield* HttpServers.listen(echo)
        const other = yield* HttpServers.listen(echo)
        const asked = (from: string, to: string) =>
          Effect.promise(() =>
            RemoteFetch.make(from, { "X-Key": "key" })(to, { headers: { accept: "*/*" } }).then(
              (response) => response.text(),
              (error: Error) => error.message
            )
          )
        assert.strictEqual(yield* asked(server, server), "key")
        assert.strictEqual(yield* asked(server, other), "none")
        for (const [from, to] of [
          ["https://far.example/mcp", server],
          ["https://far.example/mcp", "https://127.0.0.1/"],
          ["https://far.example/mcp", "http://other.example/"],
          ["https://far.example/mcp", "http://far.example/"],
          [server, "http://other.example/"],
          [server, "vscode://127.0.0.1/"],
          [server, "http://user@localhost/"]
        ] as const) {
          assert.match(yield* asked(from, to), /^the server names (https?|vscode):\/\/[^/]+, which it may not$/)
        }
        const plain = yield* Effect.flip(OAuth.login(world.home, entryOf("http://far.example/mcp"), follow))
        assert.match(plain.message, /anybody on the way could read it/)
        const endless = yield* HttpServers.listen((request, response) => {
          const more = () => void response.write("a".repeat(65_536), more)
          if (request.method === "POST") return response.writeHead(401, { "www-authenticate": "Bearer" }).end()
          return more()
        })
        assert.match(
          (yield* Effect.flip(OAuth.login(world.home, entryOf(endless), follow))).message,
          /more than 0.25 MiB/
        )
      })
    ))

  it("forgets tokens that are refused, but none that another process has renewed", () =>
    Servers.using((world) =>
      Effect.promise(async () => {
        const entry = entryOf("https://far.test/mcp")
        const one = OAuth.provider(world.home, entry.url)
        const save = (access_token: string) =>
          OAuth.provider(world.home, entry.url).saveTokens({ access_token, token_type: "Bearer" })
        await save("a")
        await one.tokens()
        await save("b")
        await one.invalidateCredentials?.("tokens")
        assert.isTrue(OAuth.isLoggedIn(world.home, entry))
        await one.tokens()
        await one.invalidateCredentials?.("tokens")
        assert.isFalse(OAuth.isLoggedIn(world.home, entry))
      })
    ))

  it("says that the user has refused, and that a server wants no login", () =>
    Servers.using((world) =>
      Effect.gen(function* () {
        const server = yield* Authorization.make({ refuses: true })
        const refused = yield* Effect.flip(OAuth.login(world.home, entryOf(server.url), follow))
        assert.strictEqual(refused.message, 'The login to the MCP server far failed: "access_denied".')
        const open = yield* HttpServers.listen(HttpServers.speaking(() => {}))
        assert.isFalse(yield* OAuth.login(world.home, entryOf(open), follow))
        assert.isFalse(Fs.existsSync(Path.join(world.home, "mcp", "oauth")))
      })
    ))
})
