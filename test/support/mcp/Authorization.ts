/** A server that wants a login, and the authorization server that gives it: registration, PKCE and refreshing, each checked. */
import * as Crypto from "node:crypto"
import type * as Http from "node:http"
import { Readable } from "node:stream"
import * as Effect from "effect/Effect"
import * as HttpServers from "./Http.js"

export interface Authorization {
  readonly url: string
  /** The token that counts now. */
  readonly access: () => string
  /** Makes the token that counts void; without `refresh`, it can't be renewed either. */
  readonly expire: (refresh: boolean) => void
  /** How often tokens were renewed. */
  readonly renewed: () => number
}

const textOf = async (request: Http.IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) text += chunk
  return text
}

/** Starts both at one address. `refuses` makes the user's answer a no, with `isOpen`, connecting needs no login, and with `isSteep`, calls need more rights than listing. */
export const make = ({ isOpen = false, isSteep = false, refuses = false } = {}) =>
  Effect.gen(function* () {
    let base = ""
    let access = "none"
    let refresh = "none"
    let renewed = 0
    let scope = ""
    const clients = new Map<string, ReadonlyArray<string>>()
    const codes = new Map<
      string,
      { readonly challenge: string; readonly redirect: string; readonly client: string; readonly scope: string }
    >()
    const answer = HttpServers.speaking((id, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "done" }] } }))
    })
    const handler: Http.RequestListener = async (request, response) => {
      const at = new URL(request.url ?? "/", base)
      const send = (status: number, value: unknown) =>
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
      if (at.pathname === "/.well-known/oauth-protected-resource/mcp")
        return send(200, { resource: `${base}/mcp`, authorization_servers: [base] })
      if (at.pathname === "/.well-known/oauth-authorization-server")
        return send(200, {
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"]
        })
      if (at.pathname === "/register") {
        const asked = JSON.parse(await textOf(request))
        const id = Crypto.randomUUID()
        clients.set(id, asked.redirect_uris)
        return send(201, { ...asked, client_id: id })
      }
      if (at.pathname === "/authorize") {
        const given = Object.fromEntries(at.searchParams)
        const redirect = given["redirect_uri"] ?? ""
        const client = given["client_id"] ?? ""
        if (clients.get(client)?.includes(redirect) !== true || given["code_challenge_method"] !== "S256")
          return send(400, { error: "invalid_request" })
        const code = Crypto.randomUUID()
        codes.set(code, { challenge: given["code_challenge"] ?? "", redirect, client, scope: given["scope"] ?? "" })
        const back = new URL(redirect)
        back.searchParams.set("state", given["state"] ?? "")
        if (refuses) back.searchParams.set("error", "access_denied")
        else back.searchParams.set("code", code)
        return response.writeHead(302, { location: back.href }).end()
      }
      if (at.pathname === "/token") {
        const given = Object.fromEntries(new URLSearchParams(await textOf(request)))
        const code = codes.get(given["code"] ?? "")
        const proof = Crypto.createHash("sha256")
          .update(given["code_verifier"] ?? "")
          .digest("base64url")
        const isFirst =
          given["grant_type"] === "authorization_code" &&
          code?.challenge === proof &&
          code.redirect === given["redirect_uri"] &&
          code.client === given["client_id"]
        const isNext = given["grant_type"] === "refresh_token" && given["refresh_token"] === refresh
        if (!isFirst && !isNext) return send(400, { error: "invalid_grant" })
        codes.delete(given["code"] ?? "")
        if (isNext) renewed++
        access = Crypto.randomUUID()
        refresh = Crypto.randomUUID()
        scope = code?.scope ?? scope
        const token = { access_token: access, token_type: "Bearer", expires_in: 3600, refresh_token: refresh }
        return send(200, { ...token, ...(scope !== "" && { scope }) })
      }
      if (at.pathname !== "/mcp") return response.writeHead(404).end()
      if (isOpen && request.method === "POST" && request.headers.authorization === undefined) {
        const text = await textOf(request)
        const again = Object.assign(Readable.from([text]), { method: "POST" }) as unknown as Http.IncomingMessage
        if (/"method":"(?:initialize|notifications\/initialized)"/.test(text)) return answer(again, response)
      }
      const metadata = `${base}/.well-known/oauth-protected-resource/mcp`
      const challenge = (status: number, more = "") =>
        response.writeHead(status, { "www-authenticate": `Bearer resource_metadata="${metadata}"${more}` }).end()
      if (request.headers.authorization !== `Bearer ${access}`) return challenge(401, isSteep ? ', scope="look"' : "")
      const text = request.method === "POST" ? await textOf(request) : ""
      if (isSteep && text.includes('"tools/call"') && !scope.split(" ").includes("change"))
        return challenge(403, ', error="insufficient_scope", scope="change"')
      const again = Object.assign(Readable.from([text]), { method: request.method }) as unknown as Http.IncomingMessage
      return answer(again, response)
    }
    const url = yield* HttpServers.listen(handler)
    base = new URL(url).origin
    const made: Authorization = {
      url,
      access: () => access,
      expire: (canRefresh) => {
        access = "void"
        if (!canRefresh) refresh = "void"
      },
      renewed: () => renewed
    }
    return made
  })
