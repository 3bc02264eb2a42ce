/** Against a real bash: every command runs once, whatever has become of the report that it begins. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inSession, result, type Subject } from "../support/Session.js"

const reports = '"$TMPDIR"/synapse-*/session-*/reports'

/** Runs each command behind one that counts it, and returns the counts. */
const counted = ({ directory, run }: Subject, commands: ReadonlyArray<string>) =>
  Effect.forEach(commands, (command, at) => {
    const log = `${directory}/count-${at}`
    return Effect.map(Effect.exit(run(`echo x >>${log}\n${command}`)), () =>
      Fs.existsSync(log) ? Fs.readFileSync(log, "utf8").split("x").length - 1 : 0
    )
  })

const commands = ["true", "false", "sleep .02; echo late", "echo a | cat", "exit 3", "nosuch", "kill -9 $$"]
const once = commands.map(() => 1)

const hindrances: Readonly<Record<string, string>> = {
  nothing: ":",
  "all variables are unset": "for name in $(compgen -v); do unset $name; done 2>/dev/null",
  "its variable is set already": "__synapse_begun=x",
  "the pipe was deleted": `rm ${reports}`,
  "a file lies in its place": `rm ${reports}; touch ${reports.replace("*/reports", "*")}/reports`,
  "the pipe is full": `head -c 200000 /dev/zero 1<>$(echo ${reports}) >$(echo ${reports}) & sleep .05`,
  "printf is disabled": "enable -n printf",
  "few files may be opened": "ulimit -n 40"
}

describe("a command's begin", () => {
  for (const [name, hindrance] of Object.entries(hindrances)) {
    inSession(`each command runs once, though ${name}`, (subject) =>
      Effect.gen(function* () {
        yield* subject.run(hindrance)
        assert.deepStrictEqual(yield* counted(subject, commands), once)
        yield* subject.session.restart
        assert.deepStrictEqual(yield* subject.run("echo on"), result({ stdout: "on\n" }))
      })
    )
  }

  inSession("each command runs once, though another process reads its report", (subject) =>
    Effect.gen(function* () {
      yield* subject.run(`for i in 1 2 3 4; do cat ${reports} >/dev/null & done; sleep .05`)
      // Of a shell that is killed, nobody could tell any more.
      const others = commands.filter((command) => !command.startsWith("kill"))
      const all = [...others, ...others]
      assert.deepStrictEqual(
        yield* counted(subject, all),
        all.map(() => 1)
      )
    })
  )
})
