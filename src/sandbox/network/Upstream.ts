/**
 * The machine's own access to hosts: its name servers, its connections and its proxy.
 */
import * as Dns from "node:dns"
import * as Http from "node:http"
import * as Net from "node:net"
import * as Os from "node:os"
import * as Context from "effect/Context"
import * as HostEntry from "../policy/HostEntry.js"
import { connect } from "./Join.js"

export interface Upstream {
  /** Returns the addresses of a name. Fails if there are none. */
  readonly lookup: (name: string) => Promise<ReadonlyArray<string>>
  readonly connect: (address: string, port: number) => Net.Socket
  /** Tests whether the machine reaches a name through a proxy. */
  readonly isProxied: (name: string) => boolean
  /** Connects through the proxy, which looks up the name itself. */
  readonly connectByProxy: (host: string, port: number) => Promise<Net.Socket>
  /** Tests whether a name may resolve to an address. With `isPrivate`, addresses of private networks are allowed. */
  readonly isReachable: (address: string, isPrivate: boolean) => boolean
}

/** Tests whether an address is the machine's own, on any network. */
const isOwn = (address: string): boolean =>
  Object.values(Os.networkInterfaces()).some((all) => all?.some((each) => each.address === address) === true)

type Variables = Readonly<Record<string, string | undefined>>

/** How long a proxy may take to connect, in ms. */
const patience = 30_000

const connectBy = (proxy: string, host: string, port: number): Promise<Net.Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, password, port: proxyPort, protocol, username } = new URL(proxy)
    if (protocol !== "http:") throw new Error("the address of the machine's proxy does not begin with http://")
    const user = [username, password].map(decodeURIComponent).join(":")
    const target = `${host}:${port}`
    const request = Http.request({
      method: "CONNECT",
      path: target,
      headers: {
        host: target,
        ...(user === ":" ? {} : { "proxy-authorization": `Basic ${Buffer.from(user).toString("base64")}` })
      },
      createConnection: () => Net.connect({ host: hostname, port: Number(proxyPort || 80), allowHalfOpen: true }),
      timeout: patience
    })
    request.once("timeout", () => request.destroy(new Error("the machine's proxy does not answer")))
    request.once("error", reject)
    request.once("connect", ({ statusCode }, socket, head) => {
      if (statusCode !== 200) {
        socket.destroy()
        return reject(new Error(`the machine's proxy answers ${statusCode}`))
      }
      socket.unshift(head)
      resolve(socket as Net.Socket)
    })
    request.end()
  })

/**
 * Makes a test for names that `NO_PROXY` exempts: `example.com` and `.example.com` include all names below, `*` all
 * names.
 */
const makeIsExcept = (list: string): ((name: string) => boolean) => {
  const names = list.split(/[\s,]+/).map((entry) => entry.replace(/^\*?\.|:\d+$/g, "").toLowerCase())
  return (name) => names.some((each) => each === "*" || (each !== "" && (name === each || name.endsWith(`.${each}`))))
}

/** Makes the machine's access, with the proxy that its variables name. Names never lead to the machine itself. */
export const make = (variables: Variables = {}): Upstream => {
  const isHost = HostEntry.makeAddressTest()
  const proxy = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].map((name) => variables[name]).find(Boolean)
  const isExcept = makeIsExcept(variables["no_proxy"] ?? variables["NO_PROXY"] ?? "")
  return {
    isProxied: (name) => proxy !== undefined && !isExcept(name),
    connectByProxy: (host, port) => connectBy(proxy ?? "", host, port),
    lookup: async (name) => (await Dns.promises.lookup(name, { all: true })).map(({ address }) => address),
    connect,
    isReachable: (address, isPrivate) => !isOwn(address) && isHost(address, isPrivate)
  }
}

/** The access to hosts that sandboxes use; tests replace it. */
export class CurrentUpstream extends Context.Reference<CurrentUpstream>()("synapse/CurrentUpstream", {
  defaultValue: (): ((variables: Variables) => Upstream) => make
}) {}
