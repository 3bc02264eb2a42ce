/** Enters the network namespace of a running sandbox, by a process outside that makes sockets there and hands them over. */
import * as ChildProcess from "node:child_process"
import type * as Dgram from "node:dgram"
import * as Fs from "node:fs"
import type * as Net from "node:net"
import type { NetworkDoor } from "../../SandboxPlatform.js"
import type { Level } from "../start/Launch.js"

/** Where the sandbox runs: the launcher, and the first process inside. */
export interface Place {
  readonly outer: number
  readonly inner: number
  readonly level: Level
  readonly nsenter: string
}

/** A socket is closed here once it is handed over, or it would go on accepting. */
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

type Handle = Dgram.Socket | Net.Server | undefined

/** Starts the process, and opens the socket for questions. */
export const enter = async ({ inner, level, nsenter, outer }: Place): Promise<NetworkDoor> => {
  const namespace = (pid: number | "self") => Fs.readlinkSync(`/proc/${pid}/ns/net`)
  if (namespace(inner) === namespace("self")) throw new Error("the sandbox has the machine's own network")
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
    const names = await ask<Dgram.Socket>({ kind: "names", address: "127.0.0.1", port: 53 })
    return {
      names,
      listen: (address, port) => ask<Net.Server>({ kind: "listen", address, port }),
      own: async (block) => void (await ask({ kind: "own", block })),
      close: () => {
        names.close()
        close()
      }
    }
  } catch (error) {
    close()
    throw error
  }
}
