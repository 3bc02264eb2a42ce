/**
 * Lets the commands of one sandbox reach the hosts that the policy allows. It answers their questions for names with addresses
 * of the sandbox's own loopback, accepts the connections to these, judges host and port, and connects outside.
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

/** A host that was refused; without a port, its name was looked up. */
export interface Refused {
  readonly host: string
  readonly port: number | undefined
  /** The entry that denies it; undefined where no entry allows it. */
  readonly rule: HostEntry.HostRule | undefined
  readonly reason: string
  /** The entry that would allow it; undefined where none does. */
  readonly grant: string | undefined
}

/** The dependencies of a gateway. */
export interface GatewayDeps {
  readonly door: NetworkDoor
  readonly upstream: Upstream
  /** Returns the hosts that are allowed, as of now. */
  readonly hosts: () => HostEntry.Hosts
  /** Asks a person about a host, and returns whether it may be reached. Without it, what no entry allows is refused. */
  readonly ask?: ((host: string, port: number) => Promise<boolean>) | undefined
  readonly onRefused: (refused: Refused) => void
  readonly onReached: (host: string, port: number) => void
  /** Called where a host is allowed, and the machine does not reach it. */
  readonly onFailed: (host: string, port: number | undefined, reason: string) => void
  /** Called where a host was allowed after the connection to it had been given up. */
  readonly onLate: (host: string, port: number) => void
}

/** The ports that all names are listened for at; other ports below 1024, too, can't be a command's own. */
const everywhere: ReadonlyArray<number> = [...HostEntry.defaultPorts, 22]
const firstFree = 1024

/** The most names that addresses are given to, and the most connections at once. */
const mostNames = 4096
const mostConnections = 4096

/** Milliseconds that the first bytes of a connection may take, and a connection to the outside. */
const patience = 10_000

/** The most bytes that are kept of a connection whose host a person is asked about, and the most of these connections. */
const mostKept = 64 * 1024
const mostWatched = 256

/** The most look-ups outside that wait at once. */
const mostLookUps = 64

/** Milliseconds for which a look-up outside is not repeated. */
const fresh = 5000

/** A client that offers another protocol, as cargo does, is served by HTTP/1.1. */
const hopByHop = /^(?:connection|http2-settings|keep-alive|proxy-.*|te|trailer|upgrade)$/i

/** Names the target of a connection. */
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

/** Waits, and tests whether the program at the other end is still there. What it sends meanwhile is kept. */
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

/** Tests whether a connection begins as HTTP does, or may yet: a line that has no end is taken for it. */
const isHttp = (bytes: Buffer): boolean => {
  const [line = "", ...rest] = bytes
    .toString("latin1", 0, 4096)
    .replace(/^[\r\n]+/, "")
    .split("\n")
  return rest.length === 0 ? /^(?:[A-Z]{1,20}(?: |$)|$)/.test(line) : / HTTP\/\d/.test(line)
}

/** Lets commands reach hosts. */
export class Gateway {
  private readonly addresses = new Map<string, string>()
  private readonly names = new Map<string, string>()
  private readonly servers = new Map<string, Promise<Net.Server>>()
  private readonly connections = new Map<Net.Socket, Pick<Target, "host" | "port">>()
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

  /** Begins to answer; fails where a port is taken. */
  async open(): Promise<void> {
    // A question whose answer fails is asked again by who has asked.
    this.questioned = await this.deps.door.names()
    this.questioned.on("message", (packet, from) => void this.answer(packet, from).catch(() => {}))
    await Promise.all(everywhere.map((port) => this.listen("0.0.0.0", port)))
    await this.update()
  }

  /** Follows a change of the hosts: listens for what is allowed now, and cuts what is not. */
  async update(): Promise<void> {
    for (const [socket, { host, port }] of this.connections) {
      // One whose question is open is judged when that is answered.
      if (this.targets.has(socket) && !HostEntry.decide(this.deps.hosts(), host, port).allowed) socket.destroy()
    }
    for (const rule of this.deps.hosts().allowed) {
      if (rule.kind === "machine") await this.listenForMachine(rule)
      else if (rule.kind === "addresses") await this.listenForAddresses(rule)
      else for (const port of rule.ports) if (port < firstFree) await this.listen("0.0.0.0", port)
    }
    for (const [name, address] of this.addresses) await this.listenFor(name, address)
  }

  /** Waits for the answers to the questions that are open, and for what follows from these. */
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
    for (const socket of this.connections.keys()) socket.destroy()
    for (const server of this.servers.values()) void server.then((one) => one.close()).catch(() => {})
    this.questioned?.close()
    this.deps.door.close()
  }

  private listen(address: string, port: number): Promise<Net.Server> {
    const key = `${address} ${port}`
    const known = this.servers.get(key)
    if (known !== undefined) return known
    const server = this.deps.door.listen(address, port).then((made) => {
      // The machine's half of a connection may end before the other.
      Object.assign(made, { allowHalfOpen: true })
      made.on("connection", (socket) => void this.accept(socket, port).catch(() => socket.resetAndDestroy()))
      return made
    })
    this.servers.set(key, server)
    // A command of the sandbox may have the port now, and not later.
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
      // The kernel may have no IPv6.
      await this.listen("::1", port).catch(() => {})
    }
  }

  private async listenForAddresses(rule: HostEntry.HostRule): Promise<void> {
    await this.deps.door.own(`${rule.host}/${rule.bits}`)
    for (const port of rule.ports) await this.listen(port < firstFree ? "0.0.0.0" : rule.host, port)
  }

  /** Listens for a name at the ports that its own entries name. */
  private async listenFor(name: string, address: string): Promise<void> {
    const ports = new Set(this.deps.hosts().allowed.flatMap((rule) => rule.ports.filter((port) => port >= firstFree)))
    for (const port of ports) {
      const isAllowed = HostEntry.decide(this.deps.hosts(), name, port).allowed
      if (isAllowed) await this.listen(address, port).catch(() => {})
    }
  }

  /** Returns the address of a name; undefined where there are too many names. */
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

  /** Returns the address for a name, or an empty text where only its type has none. */
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
    // A name that does not exist is said to be so. Below a wildcard, nothing is sent out before a connection.
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
    // Each takes one of the few threads that files are read by, too.
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

  /** Returns the rule that lets a host be reached, which a person may give now; undefined where it stays refused. */
  private async permit(host: string, port: number): Promise<HostEntry.HostRule | undefined> {
    const judge = () => HostEntry.decide(this.deps.hosts(), host, port)
    const verdict = judge()
    if (verdict.allowed) return verdict.rule
    const { ask } = this.deps
    if (ask !== undefined && verdict.rule === undefined && host !== "localhost") {
      const key = `${host}:${port}`
      // Many connections to one host are one question, and one that was answered is not asked again for the same command.
      const asked = this.questions.get(key) ?? ask(host, port)
      this.questions.set(key, asked)
      if (await asked) {
        const now = judge()
        if (now.allowed) return now.rule
      }
    }
    const { reason, rule } = verdict
    const grant = rule === undefined ? HostEntry.grantFor(host, port) : undefined
    this.deps.onRefused({ host, port, rule, reason, grant })
    return undefined
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
    this.connections.set(socket, { host, port })
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
    const target: Target = { host, port, rule }
    this.targets.set(socket, target)
    if (port === 80 && !isMachine) return this.toHttp(socket)
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

  /** Refuses a connection in which another name is asked for. */
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

  /** Passes a TLS connection on whose first message names the host that it goes to. */
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

  /** Passes on one request of a connection without TLS, where it is for the host that the connection goes to. */
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
    // A decision may have been taken back since the connection was made.
    if (!HostEntry.decide(this.deps.hosts(), host, port).allowed) return cut("", "is not allowed any more")
    const kept = (headers: ReadonlyArray<string>) =>
      headers.flatMap((name, at) => (at % 2 === 0 && !hopByHop.test(name) ? [name, headers[at + 1] ?? ""] : []))
    this.dial(target)
      .then(
        (connected) => {
          // With an agent, the connection would be the agent's own.
          const outside = Http.request(
            {
              method: request.method,
              path: absolute === null ? url : absolute[2] || "/",
              headers: kept(rawHeaders),
              createConnection: () => connected,
              setHost: false
            },
            (answer) => {
              try {
                response.writeHead(answer.statusCode ?? 502, answer.statusMessage, kept(answer.rawHeaders))
              } catch {
                // Node reads what it does not write: a status of 99, a control character.
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

  /** Connects to the target outside, at an address that was checked. */
  private async dial(target: Target): Promise<Net.Socket> {
    const { host, port, rule } = target
    try {
      const socket = await this.connectTo(target)
      this.deps.onReached(host, port)
      return socket
    } catch (error) {
      if (error instanceof RefusedTarget) {
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
        const grant = upstream.isReachable(address, true) ? `private:${HostEntry.grantFor(host, port)}` : undefined
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

  /** Tests whether a proxy may look a name up whose addresses this machine does not know. */
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
