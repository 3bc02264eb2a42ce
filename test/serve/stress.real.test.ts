/** Many programs in one daemon while programs, shells and the daemon itself are killed: nothing is lost, and nothing runs twice. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { until, using } from "./daemon.suite.js"

const dist = Path.resolve(import.meta.dirname, "../../dist")

/** A program that runs commands in four sessions, and tells the number of each that has ended. Every tenth kills its shell. */
const clientOf = (name: number, commands: number) => `
  import { connect } from "${dist}/promise.js"
  const client = await connect()
  for (let at = 0; at < ${commands}; at++) {
    const id = "${name}-" + at
    const end = at % 10 === 9 ? "kill -9 $$" : "true"
    const ran = await client.session("s" + (at % 4)).run("echo " + id + " >> log; " + end).then(
      ({ extras }) => extras.exitCode,
      ({ reason }) => reason
    )
    console.log(id, ran)
  }`

describe("the daemon", { timeout: 180_000 }, () => {
  it("loses no command and runs none twice, whoever is killed", () =>
    using(async (place) => {
      const clients = Array.from({ length: 4 }, (_, name) => place.startModule(clientOf(name, 35)))
      const log = () => {
        const path = Path.join(place.project, "log")
        return Fs.existsSync(path) ? Fs.readFileSync(path, "utf8").trim().split("\n") : []
      }
      const killClients = until(() => log().length > 30).then(() => {
        for (const { child } of clients.slice(0, 2)) child.kill("SIGKILL")
      })
      const killDaemon = until(() => log().length > 60).then(() => {
        for (const pid of place.daemons()) process.kill(pid, "SIGKILL")
      })
      const ended = await Promise.all(clients.map(({ ended }) => ended))
      await Promise.all([killClients, killDaemon])
      assert.deepStrictEqual(
        ended.map(({ code, stderr }) => [code, stderr]),
        clients.map((_, name) => [name < 2 ? null : 0, ""])
      )
      const lines = log()
      assert.strictEqual(new Set(lines).size, lines.length)
      const told = ended.flatMap(({ stdout }) =>
        stdout
          .trim()
          .split("\n")
          .map((line) => line.split(" "))
      )
      const ran = new Set(lines)
      for (const [id = "", how] of told) {
        // What the killed daemon ran may have ended before or after it has written its number.
        if (how !== "Lost") assert.deepStrictEqual([id, how, ran.has(id)], [id, id.endsWith("9") ? "137" : "0", true])
      }
      assert.isAtMost(told.filter(([, how]) => how === "Lost").length, 5)
      assert.isAtLeast(told.length, 2 * 35)
      assert.lengthOf(place.daemons(), 1)
    }))
})
