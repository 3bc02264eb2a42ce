/**
 * Enters a running sandbox's network namespace, with an outside process that creates sockets there and hands them over.
 */
import * as ChildProcess from "node:child_process"
import type * as Dgram from "node:dgram"
import * as Fs from "node:fs"
import type * as Net from "node:net"
import * as Attempt from "../../../../domain/Attempt.js"
import * as ProcessTable from "../../../../session/ProcessTable.js"
import type { NetworkDoor } from "../../SandboxPlatform.js"
import type { Level } from "../start/Launch.js"

/** Where the sandbox runs: the launcher, and the first process inside. */
export interface Place {
  readonly outer: number
  readonly inner: number
  readonly level: Level
  readonly nsenter: string
}

/** A running sandbox, and the directory that it was started in. */
export interface Running extends Omit<Place, "nsenter"> {
  readonly cwd: string
}

const namespaceOf = (pid: number | "self", kind: "net" | "user"): string | undefined =>
  Attempt.orUndefined(() => Fs.readlinkSync(`/proc/${pid}/ns/${kind}`))

/** Finds this user's running sandboxes: bubblewrap's processes with their own network. */
export const running = (): ReadonlyArray<Running> => {
  const own = namespaceOf("self", "net")
  const user = process.getuid?.()
  return ProcessTable.list().flatMap(({ parent, pid }) => {
    if (Fs.statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid !== user) return []
    const network = namespaceOf(pid, "net")
    if (network === undefined || network === own || namespaceOf(parent, "net") !== own) return []
    if (ProcessTable.nameOf(parent) !== "bwrap") return []
    const level = namespaceOf(parent, "user") === namespaceOf("self", "user") ? "mount" : "user"
    return [{ inner: pid, outer: parent, level, cwd: ProcessTable.cwdOf(pid) }]
  })
}

/** A socket is closed here once it is handed over. Otherwise, it would keep accepting connections. */
const program = `
const net = require("node:net"), dgram = require("node:dgram")
process.on("disconnect", () => process.exit())
process.on("message", ({ id, kind, address, port, block }) => {
  const fail = (error) => process.send({ id, code: error.code, message: error.message })
  if (kind === "own") {
    return require("node:child_process").execFile("ip", ["route", "replace", "local", block, "dev", "lo"],
      { env: { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" } }, (error) => (error ? fail(error) : process.send({ id })))
  }
  if (kind === "names") {
    const socket = dgram.createSocket("udp4").once("error", fail)
    return socket.bind(port, address, () => process.send({ id }, socket, () => socket.close()))
  }
  if (kind === "connect") {
    // Paused, because its first bytes would otherwise be read here.
    const socket = new net.Socket({ allowHalfOpen: true }).once("error", fail)
    socket.pause()
    return socket.connect(port, address, () => process.send({ id }, socket))
  }
  const server = net.createServer((socket) => socket.resetAndDestroy()).once("error", fail)
  server.listen({ port, host: address, backlog: 4096 }, () => process.send({ id }, server, () => server.close()))
})
process.send({ id: 0 })
`

interface Message {
  readonly id: number
  readonly code?: string
  readonly message?: string
}

type Handle = Dgram.Socket | Net.Server | Net.Socket | undefined

export const enter = async ({ inner, level, nsenter, outer }: Place): Promise<NetworkDoor> => {
  if (namespaceOf(inner, "net") === namespaceOf("self", "net"))
    throw new Error("the sandbox has the machine's own network")
  const words = [
    ...(level === "user" ? [nsenter, "-t", String(outer), "--user", "--preserve-credentials", "--"] : []),
    ...[nsenter, "-t", String(inner), "--net", "--", process.execPath, "-e", program]
  ]
  const [first = nsenter, ...args] = words
  const child = ChildProcess.spawn(first, args, { env: {}, cwd: "/", stdio: ["ignore", "ignore", "pipe", "ipc"] })
  const waiting = new Map<number, (message: Message, handle: Handle) => void>()
  let said = ""
  let last = 0
  child.stderr?.on("data", (bytes) => {
    said = `${said}${bytes}`.slice(-1000)
  })
  child.on("message", (message: Message, handle) => {
    waiting.get(message.id)?.(message, handle as Handle)
    waiting.delete(message.id)
  })
  const end = (reason: string) => {
    for (const [id, tell] of waiting) tell({ id, message: said.trim().split("\n").at(-1) || reason }, undefined)
    waiting.clear()
  }
  child.on("error", ({ message }) => end(message))
  child.on("close", () => end("the process in its network has ended"))
  const answered = <A extends Handle>(id: number) =>
    new Promise<A>((resolve, reject) => {
      waiting.set(id, ({ code, message }, handle) =>
        message === undefined ? resolve(handle as A) : reject(Object.assign(new Error(message), { code }))
      )
    })
  const ask = <A extends Handle>(request: object): Promise<A> => {
    const id = ++last
    const answer = answered<A>(id)
    if (child.connected) child.send({ ...request, id })
    else end("the process in its network has ended")
    return answer
  }
  const close = () => {
    if (child.connected) child.disconnect()
  }
  try {
    await answered(0)
    return {
      names: () => ask<Dgram.Socket>({ kind: "names", address: "127.0.0.1", port: 53 }),
      listen: (address, port) => ask<Net.Server>({ kind: "listen", address, port }),
      connect: async (address, port) =>
        Object.assign(await ask<Net.Socket>({ kind: "connect", address, port }), { allowHalfOpen: true }),
      own: async (block) => void (await ask({ kind: "own", block })),
      close
    }
  } catch (error) {
    close()
    throw error
  }
}
