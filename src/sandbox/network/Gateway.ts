/**
 * Lets the commands of one sandbox reach the hosts that the policy allows. It answers their DNS queries with addresses
 * on the sandbox's own loopback, accepts connections to those, checks host and port, and connects outside.
 */
import type * as Dgram from "node:dgram"
import * as Http from "node:http"
import type * as Net from "node:net"
import type { NetworkDoor } from "../platform/SandboxPlatform.js"
import * as HostEntry from "../policy/HostEntry.js"
import * as ClientHello from "./ClientHello.js"
import { join } from "./Join.js"
import * as NameServer from "./NameServer.js"
import type { Upstream } from "./Upstream.js"

/** A refused host. Without a port, its name was looked up. */
export interface Refused {
  readonly host: string
  readonly port: number | undefined
  /** The entry that denies it; undefined if it is refused because no entry allows it. */
  readonly rule: HostEntry.HostRule | undefined
  readonly reason: string
  /** The entry that would allow it, if one can. */
  readonly grant: string | undefined
}

/** Asks a person whether a host may be reached, also `privately` if its name leads to an address that is not public. */
export type Ask = (host: string, port: number, privately?: string) => Promise<boolean>

export interface GatewayDeps {
  readonly door: NetworkDoor
  readonly upstream: Upstream
  readonly hosts: () => HostEntry.Hosts
  /** Without it, a host that no entry allows is refused. */
  readonly ask?: Ask | undefined
  readonly onRefused: (refused: Refused) => void
  readonly onReached: (host: string, port: number) => void
  /** Called if a host is allowed but the machine can't reach it. */
  readonly onFailed: (host: string, port: number | undefined, reason: string) => void
  /** Called if a host was allowed after the command had given up its connection. */
  readonly onLate: (host: string, port: number) => void
}

/** The ports to listen at for every name. Other ports below 1024 can't be a command's own either. */
const everywhere: ReadonlyArray<number> = [...HostEntry.defaultPorts, 22]
const firstFree = 1024

/** Limits of the names that get addresses, and of simultaneous connections. */
const mostNames = 4096
const mostConnections = 4096

/** How long to wait for a connection's first bytes, and for a connection to the outside, in ms. */
const patience = 10_000

/** How many bytes are kept of a connection while a person is asked about its host, and for how many connections. */
const mostKept = 64 * 1024
const mostWatched = 256

/** The most simultaneous lookups outside. */
const mostLookUps = 64

/** How long the result of a lookup outside is reused, in ms. */
const fresh = 5000

/** A client that offers another protocol, as cargo does, gets HTTP/1.1. */
const hopByHop = /^(?:connection|http2-settings|keep-alive|proxy-.*|te|trailer|upgrade)$/i

/** With these headers too, where methods are limited: a server may take the method from one. */
const notPassed = new RegExp(`${hopByHop.source}|^x[-_](?:http[-_])?method(?:[-_]override)?$`, "i")

/** The target of a connection. */
interface Target {
  readonly host: string
  readonly port: number
  readonly rule: HostEntry.HostRule
}

class RefusedTarget extends Error {
  constructor(
    override readonly message: string,
    readonly grant: string | undefined
  ) {
    super(message)
  }
}

const reasonOf = (error: NodeJS.ErrnoException): string => error.code ?? error.message

const addressAt = (index: number): string => `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`

/** Waits, and tests whether the program at the other end is still connected. What it sends meanwhile is kept. */
const isThereAfter = async (socket: Net.Socket, waiting: Promise<unknown>): Promise<boolean> => {
  let kept = Buffer.alloc(0)
  let isThere = true
  const keep = (part: Buffer) => {
    kept = Buffer.concat([kept, part])
    if (kept.length > mostKept) socket.pause()
  }
  const leave = () => {
    isThere = false
  }
  socket.on("data", keep).once("end", leave)
  await waiting
  socket.off("data", keep).off("end", leave).pause()
  if (isThere && kept.length > 0) socket.unshift(kept)
  return isThere && !socket.destroyed
}

/** Tests whether a connection begins like HTTP, or still may: an incomplete line counts as HTTP. */
const isHttp = (bytes: Buffer): boolean => {
  const [line = "", ...rest] = bytes
    .toString("latin1", 0, 4096)
    .replace(/^[\r\n]+/, "")
    .split("\n")
  return rest.length === 0 ? /^(?:[A-Z]{1,20}(?: |$)|$)/.test(line) : / HTTP\/\d/.test(line)
}

export class Gateway {
  private readonly addresses = new Map<string, string>()
  private readonly names = new Map<string, string>()
  private readonly servers = new Map<string, Promise<Net.Server>>()
  private readonly connections = new Set<Net.Socket>()
  private readonly targets = new WeakMap<Net.Socket, Target>()
  private readonly questions = new Map<string, Promise<boolean>>()
  private readonly found = new Map<
    string,
    { readonly at: number; readonly addresses: Promise<ReadonlyArray<string>> }
  >()
  private readonly http: Http.Server
  private questioned: Dgram.Socket | undefined
  private readonly lanes = [Promise.resolve(), Promise.resolve()]
  private lookingUp = 0
  private lookUps = 0
  private isClosed = false

  constructor(private readonly deps: GatewayDeps) {
    this.http = Http.createServer((request, response) => this.forward(request, response))
    this.http.on("connect", (_, socket) => socket.destroy())
    this.http.on("clientError", (_, socket) => socket.destroy())
  }

  /** Begins to answer. Fails if a port is taken. */
  async open(): Promise<void> {
    // A client repeats a query that gets no answer.
    this.questioned = await this.deps.door.names()
    this.questioned.on("message", (packet, from) => void this.answer(packet, from).catch(() => {}))
    await Promise.all(everywhere.map((port) => this.listen("0.0.0.0", port)))
    await this.update()
  }

  /**
   * Applies a change of the hosts: listens for what is allowed now, and cuts connections that are not allowed any more.
   */
  async update(): Promise<void> {
    for (const socket of this.connections) {
      // A connection that waits for a person's answer is judged after the answer.
      const target = this.targets.get(socket)
      if (target === undefined) continue
      const use = target.rule.methods.length === 0 ? "any" : undefined
      if (!HostEntry.decide(this.deps.hosts(), target.host, target.port, use).allowed) socket.destroy()
    }
    for (const rule of this.deps.hosts().allowed) {
      if (rule.kind === "machine") await this.listenForMachine(rule)
      else if (rule.kind === "addresses") await this.listenForAddresses(rule)
      else for (const port of rule.ports) if (port < firstFree) await this.listen("0.0.0.0", port)
    }
    for (const [name, address] of this.addresses) await this.listenFor(name, address)
  }

  /** Waits for answers to the open questions, and for what follows from them. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.questions.values())
    await new Promise(setImmediate)
  }

  /** Forgets the answers to questions that were asked for one command. */
  forget(): void {
    this.questions.clear()
  }

  close(): void {
    this.isClosed = true
    for (const socket of this.connections) socket.destroy()
    for (const server of this.servers.values()) void server.then((one) => one.close()).catch(() => {})
    this.questioned?.close()
    this.deps.door.close()
  }

  private listen(address: string, port: number): Promise<Net.Server> {
    const key = `${address} ${port}`
    const known = this.servers.get(key)
    if (known !== undefined) return known
    const server = this.deps.door.listen(address, port).then((made) => {
      // The outside half of a connection may end before the other half.
      Object.assign(made, { allowHalfOpen: true })
      made.on("connection", (socket) => void this.accept(socket, port).catch(() => socket.resetAndDestroy()))
      return made
    })
    this.servers.set(key, server)
    // A command in the sandbox may hold the port now, but not later.
    server.catch(() => this.servers.delete(key))
    return server
  }

  private async listenForMachine(rule: HostEntry.HostRule): Promise<void> {
    for (const port of rule.ports) {
      const refuse = ({ code, message }: NodeJS.ErrnoException) => {
        const reason = code === "EADDRINUSE" ? "a command listens at this port already" : message
        this.deps.onRefused({ host: "localhost", port, rule, reason, grant: undefined })
      }
      await this.listen(port < firstFree ? "0.0.0.0" : "127.0.0.1", port).catch(refuse)
      // The kernel may lack IPv6.
      await this.listen("::1", port).catch(() => {})
    }
  }

  private async listenForAddresses(rule: HostEntry.HostRule): Promise<void> {
    await this.deps.door.own(`${rule.host}/${rule.bits}`)
    for (const port of rule.ports) await this.listen(port < firstFree ? "0.0.0.0" : rule.host, port)
  }

  /** Listens for a name at the ports that its entries name. */
  private async listenFor(name: string, address: string): Promise<void> {
    const ports = new Set(this.deps.hosts().allowed.flatMap((rule) => rule.ports.filter((port) => port >= firstFree)))
    for (const port of ports) {
      const isAllowed = HostEntry.decide(this.deps.hosts(), name, port).allowed
      if (isAllowed) await this.listen(address, port).catch(() => {})
    }
  }

  /** Returns the address of a name; undefined if there are too many names. */
  private addressOf(name: string): string | undefined {
    const known = this.addresses.get(name)
    if (known !== undefined || this.addresses.size >= mostNames) return known
    const address = addressAt(this.addresses.size)
    this.addresses.set(name, address)
    this.names.set(address, name)
    return address
  }

  private async answer(packet: Buffer, from: Dgram.RemoteInfo): Promise<void> {
    const send = (bytes: Buffer) => {
      if (!this.isClosed) this.questioned?.send(bytes, from.port, from.address, () => {})
    }
    const question = NameServer.read(packet)
    if (question === undefined) return
    if ("code" in question) return send(NameServer.refuse(packet, question.code))
    const { codes, types } = NameServer
    const { name, type } = question
    if (![types.A, types.AAAA, types.HTTPS].includes(type as 1)) return send(NameServer.answer(question, codes.refused))
    if (/(?:^|\.)localhost$/.test(name)) {
      return send(NameServer.answer(question, codes.none, type === types.A ? "127.0.0.1" : undefined))
    }
    const address = await this.lookUp(name, type)
    send(
      address === undefined
        ? NameServer.answer(question, codes.noSuchName)
        : NameServer.answer(question, codes.none, address || undefined)
    )
  }

  /** Returns the address for a name, or an empty text if the name exists without an address of this type. */
  private async lookUp(name: string, type: number): Promise<string | undefined> {
    const verdict = HostEntry.decide(this.deps.hosts(), name)
    const refuse = (reason: string, grant?: string) => {
      this.deps.onRefused({ host: name, port: undefined, rule: verdict.rule, reason, grant })
      return undefined
    }
    if (!verdict.allowed && (verdict.rule !== undefined || this.deps.ask === undefined)) {
      const isName = HostEntry.canonical(name) === name
      return refuse(
        verdict.reason,
        verdict.rule === undefined && isName ? HostEntry.grantFor(name, undefined) : undefined
      )
    }
    if (type !== NameServer.types.A) return ""
    // A missing name is reported as missing. For a name that a wildcard allows, nothing is sent outside before a
    // connection.
    if (verdict.allowed && verdict.rule.kind !== "below" && !this.isUnchecked(name, verdict.rule)) {
      const isFound = await this.resolve(name).then(
        (addresses) => addresses.length > 0,
        (error) => this.deps.onFailed(name, undefined, reasonOf(error))
      )
      if (isFound !== true) return undefined
    }
    const address = this.addressOf(name)
    if (address === undefined) return refuse(`commands have looked up ${mostNames} names already`)
    await this.listenFor(name, address)
    return address
  }

  /** Looks a name up outside. */
  private async resolve(name: string): Promise<ReadonlyArray<string>> {
    const now = performance.now()
    const known = this.found.get(name)
    if (known !== undefined && now - known.at < fresh) return known.addresses
    if (this.lookingUp >= mostLookUps) throw new RefusedTarget(`${mostLookUps} names are being looked up`, undefined)
    this.lookingUp++
    // Each lookup takes one of the few threads that also read files.
    const lane = this.lookUps++ % this.lanes.length
    const addresses = (this.lanes[lane] ?? Promise.resolve()).then(() => this.deps.upstream.lookup(name))
    this.lanes[lane] = addresses.then(
      () => void this.lookingUp--,
      () => void this.lookingUp--
    )
    if (this.found.size >= mostNames) this.found.clear()
    this.found.set(name, { at: now, addresses })
    return addresses
  }

  /** Returns the rule that allows a host, possibly after asking a person; undefined if the host stays refused. */
  private async permit(host: string, port: number): Promise<HostEntry.HostRule | undefined> {
    const judge = () => HostEntry.decide(this.deps.hosts(), host, port)
    const verdict = judge()
    if (verdict.allowed) return verdict.rule
    const { ask } = this.deps
    if (ask !== undefined && verdict.rule === undefined && host !== "localhost") {
      const key = `${host}:${port}`
      if (await this.once(key, () => ask(host, port))) {
        const now = judge()
        if (now.allowed) return now.rule
      }
    }
    const { reason, rule } = verdict
    const grant = rule === undefined ? HostEntry.grantFor(host, port) : undefined
    this.deps.onRefused({ host, port, rule, reason, grant })
    return undefined
  }

  /** Several connections to one host are one question, which is not repeated for the same command. */
  private once(key: string, ask: () => Promise<boolean>): Promise<boolean> {
    const asked = this.questions.get(key) ?? ask()
    this.questions.set(key, asked)
    return asked
  }

  private async accept(socket: Net.Socket, port: number): Promise<void> {
    socket.on("error", () => {})
    const address = socket.localAddress ?? ""
    const isMachine = address === "127.0.0.1" || address === "::1"
    const host = isMachine ? "localhost" : address.startsWith("127.") ? this.names.get(address) : address
    if (host === undefined || this.isClosed || this.connections.size >= mostConnections) {
      const reason =
        host === undefined
          ? "no name that was looked up has this address"
          : `there are ${mostConnections} connections at once`
      this.deps.onRefused({ host: host ?? address, port, rule: undefined, reason, grant: undefined })
      return void socket.resetAndDestroy()
    }
    this.connections.add(socket)
    socket.on("close", () => this.connections.delete(socket))
    const permission = this.permit(host, port)
    if (this.connections.size > mostWatched) await permission
    const isThere = await isThereAfter(socket, permission)
    const rule = await permission
    if (rule === undefined) return void socket.resetAndDestroy()
    if (!isThere) {
      socket.destroy()
      return this.deps.onLate(host, port)
    }
    const whole = HostEntry.decide(this.deps.hosts(), host, port, "any")
    const target: Target = { host, port, rule: whole.allowed ? whole.rule : rule }
    this.targets.set(socket, target)
    if ((port === 80 || !whole.allowed) && !isMachine) return this.toHttp(socket)
    if (port === 443 && !isMachine) return this.throughHello(socket, target, true)
    const outside = await this.dial(target).catch(() => undefined)
    if (outside === undefined) return void socket.resetAndDestroy()
    if (socket.destroyed) return void outside.destroy()
    if (isMachine) return join(socket, outside)
    outside.pipe(socket)
    outside.on("error", () => socket.destroy())
    socket.once("close", () => outside.destroy())
    socket.once("data", (bytes) => {
      outside.unpipe(socket)
      socket.pause()
      socket.unshift(bytes)
      if (isHttp(bytes)) {
        outside.destroy()
        this.toHttp(socket)
      } else if (bytes[0] === 22) this.throughHello(socket, target, false, outside)
      else join(socket, outside)
    })
    socket.resume()
  }

  private toHttp(socket: Net.Socket): void {
    socket.setTimeout(patience, () => socket.destroy())
    this.http.emit("connection", socket)
    socket.resume()
  }

  /** Refuses a connection in which another name is requested. */
  private refuseName({ host, port, rule }: Target, name: string, what: string): void {
    const reason = `the connection to ${host} ${what}`
    this.deps.onRefused({
      host: name === "" ? host : name,
      port,
      rule: name === "" ? rule : undefined,
      reason,
      grant: undefined
    })
  }

  /** Passes on a TLS connection whose first message names the host that it goes to. */
  private throughHello(socket: Net.Socket, target: Target, isNeeded: boolean, outside?: Net.Socket): void {
    let bytes = Buffer.alloc(0)
    const timer = setTimeout(() => socket.destroy(), patience)
    socket.once("close", () => clearTimeout(timer))
    const isAddress = target.rule.kind === "addresses"
    const look = (part: Buffer) => {
      bytes = Buffer.concat([bytes, part])
      const hello = ClientHello.read(bytes)
      if (hello === "more") return
      clearTimeout(timer)
      socket.off("data", look)
      socket.pause()
      const isNamed = hello !== "none" && hello.name === target.host
      if (!isNamed && !(hello === "none" && (isAddress || !isNeeded))) {
        const said = hello === "none" ? "is no TLS with a name" : "asks for another name in TLS"
        this.refuseName(target, hello === "none" ? "" : hello.name, said)
        outside?.destroy()
        return void socket.resetAndDestroy()
      }
      socket.unshift(bytes)
      if (outside !== undefined) return join(socket, outside)
      this.dial(target).then(
        (connected) => join(socket, connected),
        () => socket.resetAndDestroy()
      )
    }
    socket.on("data", look)
    socket.resume()
  }

  /** Passes on one request of a connection without TLS, if it is for the host that the connection goes to. */
  private forward(request: Http.IncomingMessage, response: Http.ServerResponse): void {
    const target = this.targets.get(request.socket)
    if (target === undefined) return void request.socket.destroy()
    request.socket.setTimeout(0)
    const { host, port } = target
    const cut = (name: string, said: string) => {
      this.refuseName(target, name, said)
      request.socket.resetAndDestroy()
    }
    const { rawHeaders, url = "" } = request
    const given = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === "host")
    const absolute = /^http:\/\/([^/?#@]+)(.*)$/i.exec(url)
    const isOf = (text = "") => {
      const [, name = "", at = "80"] = /^(.*?)(?::(\d+))?$/.exec(text) ?? []
      return name.toLowerCase().replace(/\.$/, "") === host && Number(at) === port
    }
    if (given.length !== 1 || !isOf(given[0])) return cut(given[0] ?? "", "has a request for another host")
    if (absolute !== null ? !isOf(absolute[1]) : !/^(?:\/|\*$)/.test(url))
      return cut("", "has a request for another place")
    // Permission may have been revoked since the connection was made, or be for other methods.
    const verdict = HostEntry.decide(this.deps.hosts(), host, port, request.method)
    if (!verdict.allowed) {
      const grant = verdict.rule === undefined ? HostEntry.grantFor(host, port) : undefined
      this.deps.onRefused({ host, port, rule: verdict.rule, reason: verdict.reason, grant })
      return void request.socket.resetAndDestroy()
    }
    const { rule } = verdict
    const dropped = rule.methods.length === 0 ? hopByHop : notPassed
    const kept = (headers: ReadonlyArray<string>) =>
      headers.flatMap((name, at) => (at % 2 === 0 && !dropped.test(name) ? [name, headers[at + 1] ?? ""] : []))
    this.dial({ ...target, rule })
      .then(
        (connected) => {
          // With an agent, the connection would be the agent's own.
          const outside = Http.request(
            {
              method: request.method,
              path: absolute === null ? url : absolute[2] || "/",
              // A server that ignores a body would take it for the next request.
              headers: [...kept(rawHeaders), "Connection", "close"],
              createConnection: () => connected,
              setHost: false
            },
            (answer) => {
              try {
                response.writeHead(answer.statusCode ?? 502, answer.statusMessage, kept(answer.rawHeaders))
              } catch {
                // Node reads some things that it refuses to write: a status of 99, a control character.
                response.destroy()
                return void connected.destroy()
              }
              answer.pipe(response)
              answer.on("error", () => response.destroy())
            }
          )
          outside.on("error", () => response.destroy())
          response.on("close", () => connected.destroy())
          if (response.destroyed) connected.destroy()
          request.pipe(outside)
        },
        () => response.destroy()
      )
      .catch(() => response.destroy())
  }

  /** Connects to the target outside, at a checked address. */
  private async dial(target: Target): Promise<Net.Socket> {
    const { host, port, rule } = target
    try {
      const socket = await this.connectTo(target)
      this.deps.onReached(host, port)
      return socket
    } catch (error) {
      if (error instanceof RefusedTarget) {
        const { grant, message } = error
        const { ask } = this.deps
        // The name is looked up only now, because a lookup tells others what a command has put into the name.
        if (grant !== undefined && ask !== undefined && (await this.once(grant, () => ask(host, port, message)))) {
          const verdict = HostEntry.decide(this.deps.hosts(), host, port)
          if (verdict.allowed && verdict.rule.isPrivate) return this.dial({ ...target, rule: verdict.rule })
        }
        this.deps.onRefused({ host, port, rule, reason: error.message, grant: error.grant })
      } else this.deps.onFailed(host, port, reasonOf(error as Error))
      throw error
    }
  }

  private async connectTo({ host, port, rule }: Target): Promise<Net.Socket> {
    const { upstream } = this.deps
    if (rule.kind === "machine") return this.first(["127.0.0.1", "::1"], port)
    if (rule.kind === "addresses") return this.first([host], port)
    const isUnchecked = this.isUnchecked(host, rule)
    const addresses = await this.resolve(host).catch((error) => {
      if (isUnchecked) return []
      throw error
    })
    for (const address of addresses) {
      if (!upstream.isReachable(address, rule.isPrivate)) {
        const grant = upstream.isReachable(address, true) ? HostEntry.grantFor(host, port, true) : undefined
        throw new RefusedTarget(`its name leads to ${address}, which is no public address`, grant)
      }
      const denied = HostEntry.decide(this.deps.hosts(), address, port)
      if (!denied.allowed && denied.rule !== undefined) {
        throw new RefusedTarget(`its name leads to ${address}, which ${denied.rule.pattern} denies`, undefined)
      }
    }
    return upstream.isProxied(host)
      ? upstream.connectByProxy(isUnchecked ? host : (addresses[0] ?? host), port)
      : this.first(addresses, port)
  }

  /** Tests whether a proxy may look up a name whose addresses this machine does not know. */
  private isUnchecked(host: string, { kind }: HostEntry.HostRule): boolean {
    return kind !== "any" && this.deps.upstream.isProxied(host)
  }

  /** Connects to the first address that answers. */
  private async first(addresses: ReadonlyArray<string>, port: number): Promise<Net.Socket> {
    let failure: unknown = new Error("no address")
    for (const address of addresses) {
      try {
        return await new Promise<Net.Socket>((resolve, reject) => {
          const socket = this.deps.upstream.connect(address, port)
          const timer = setTimeout(() => socket.destroy(new Error("no answer")), patience)
          socket.once("error", reject)
          socket.once("close", () => clearTimeout(timer))
          socket.once("connect", () => {
            clearTimeout(timer)
            socket.off("error", reject)
            socket.on("error", () => {})
            resolve(socket)
          })
        })
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }
}
