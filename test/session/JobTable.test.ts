import { assert, describe, it } from "@effect/vitest"
import * as JobStatus from "../../src/domain/JobStatus.js"
import { JobLog, JobTable } from "../../src/session/JobTable.js"

const both = ["stdout", "stderr"] as const

describe("JobLog", () => {
  it("gives what is new, of one stream or of both, and all of it again where that is asked for", () => {
    const log = new JobLog()
    for (const [stream, text] of [
      ["stdout", "one\n"],
      ["stderr", "err\n"],
      ["stdout", "two"]
    ] as const)
      log.push(stream, Buffer.from(text))
    assert.deepStrictEqual(log.rest, { unread: 3, last: "two" })
    assert.strictEqual(log.text(["stderr"], false), "err\n")
    log.markRead(["stderr"])
    assert.strictEqual(log.text(both, false), "one\ntwo")
    log.markRead(both)
    log.push("stdout", Buffer.from("\nthree\n"))
    assert.strictEqual(log.text(both, false), "\nthree\n")
    assert.strictEqual(log.text(both, true), "one\nerr\ntwo\nthree\n")
  })

  it("keeps the newest of a flood, from the beginning of a line, and counts what it has dropped", () => {
    const log = new JobLog()
    const line = (i: number) => `line ${String(i).padStart(7, "0")}\n`
    const all = Array.from({ length: 90_000 }, (_, i) => line(i)).join("")
    for (let at = 0; at < all.length; at += 5000)
      log.push(at % 3 === 0 ? "stderr" : "stdout", Buffer.from(all.slice(at, at + 5000)))
    const [first = "", ...lines] = log.text(both, false).split("\n")
    const dropped = Number(/^\[… (\d+) bytes dropped …\]$/.exec(first)?.[1])
    assert.strictEqual(dropped + lines.join("\n").length, 90_000 * 13)
    assert.isAtMost(lines.join("\n").length, 1024 ** 2)
    assert.match(lines[0] ?? "", /^line \d{7}$/)
    assert.deepStrictEqual(lines.slice(-2), [line(89_999).trimEnd(), ""])
    log.markRead(both)
    log.push("stdout", Buffer.from("more\n"))
    assert.strictEqual(log.text(both, false), "more\n")
  })

  it("has no last line until the job has printed one, after the output that its call's result shows", () => {
    const log = new JobLog()
    log.show({ stdout: "mine\nName? ", stderr: "" })
    assert.deepStrictEqual(log.rest, { unread: 0, last: "" })
    assert.isTrue(log.isInLine)
    log.push("stdout", Buffer.from("Ada\n"))
    assert.deepStrictEqual(log.rest, { unread: 1, last: "Ada" })
    assert.strictEqual(log.text(both, false), "Ada\n")
    assert.strictEqual(log.text(both, true), "mine\nName? Ada\n")
  })

  it("shows a last line without what a terminal would obey", () => {
    const log = new JobLog()
    log.push("stdout", Buffer.from("a\nb\x1b[31m\u202e]\r\n\n"))
    assert.deepStrictEqual(log.rest, { unread: 3, last: "b\\u202e]" })
  })
})

describe("JobTable", () => {
  it("knows the last 64 jobs that have ended, and tells of every one", () => {
    const table = new JobTable()
    const printed = { stdout: "", stderr: "" }
    for (let at = 1; at <= 100; at++) {
      table.adopt({ text: "true &", printed, child: undefined, find: () => [], hear: undefined })
      table.get(at)?.look()
    }
    assert.deepStrictEqual(
      table.list.map(({ id }) => id),
      Array.from({ length: 64 }, (_, at) => at + 37)
    )
    assert.deepStrictEqual(
      table.takeNews().map(({ id, state }) => [id, state]),
      Array.from({ length: 100 }, (_, at) => [at + 1, "ended"])
    )
  })

  it("ends a job when its output is closed, even by a process that is not its own", () => {
    const table = new JobTable()
    let release = () => {}
    const printed = { stdout: "", stderr: "" }
    table.adopt({
      ...{ text: "true &", printed, child: undefined, find: () => [] },
      hear: (_, ended) => {
        release = ended
      }
    })
    assert.deepStrictEqual(
      table.takeNews().map(({ state }) => state),
      ["running"]
    )
    release()
    assert.strictEqual(table.get(1)?.state, "ended")
  })

  it("gives exit codes to the children of the shell, gives up those of an ended one, and asks for each once", () => {
    const table = new JobTable()
    const printed = { stdout: "", stderr: "" }
    const adopt = () => table.adopt({ text: "true &", printed, child: 7, find: () => [], hear: undefined })
    adopt()
    assert.deepStrictEqual(table.takeUntold([1]), [])
    table.takeNews()
    table.forget()
    adopt()
    assert.deepStrictEqual(
      table.takeNews().map(({ state, until }) => [state, until]),
      [
        ["ended", table.get(1)?.status.until],
        ["running", undefined]
      ]
    )
    assert.isNumber(table.get(2)?.status.until)
    assert.deepStrictEqual(table.takeUntold([2, 1, 3]), [7])
    assert.deepStrictEqual(table.takeUntold([2]), [])
    table.learn(new Map([[7, 5]]))
    assert.deepStrictEqual(
      table.list.map(({ exitCode, state }) => [state, exitCode]),
      [
        ["ended", undefined],
        ["exited", 5]
      ]
    )
  })
})

describe("JobStatus", () => {
  const job: JobStatus.JobStatus = { id: 3, name: "npm test", state: "running", since: 0, unread: 2, last: "ok" }
  const ended = (change: Partial<JobStatus.JobStatus>) => JobStatus.line({ ...job, state: "exited", ...change })

  it("is told in one line", () => {
    assert.strictEqual(JobStatus.line(job), '[job 3 "npm test" is running: job:output 3, job:wait 3, job:stop 3]')
    assert.strictEqual(ended({ exitCode: 1 }), '[job 3 "npm test" exited 1, 2 unread lines; last: ok]')
    assert.strictEqual(ended({ exitCode: 137, unread: 0 }), '[job 3 "npm test" exited 137 (SIGKILL)]')
    assert.strictEqual(
      ended({ state: "ended", unread: 1 }),
      '[job 3 "npm test" ended, exit code not known, 1 unread line; last: ok]'
    )
    assert.strictEqual(ended({ state: "lost", unread: 0 }), '[job 3 "npm test" was ended with its shell]')
  })
})
